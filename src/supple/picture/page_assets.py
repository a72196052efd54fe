"""Style sheet, film controls and film player of the page."""

__all__ = ["CONTROLS", "PLAYER", "POLICY", "STYLE"]

# The browser itself refuses whatever the page does not carry.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fbfbfa; --card: #ffffff; --ink: #24282f; --soft: #5f6672; --line: #e3e5e9; --accent: #b9532f;
  --shade: 0 1px 2px rgb(20 24 32 / 5%), 0 6px 20px rgb(20 24 32 / 6%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171c; --card: #1c2027; --ink: #e3e6eb; --soft: #9aa2af; --line: #2f353f; --accent: #f0977b;
    --shade: none;
  }
  figure img.bright, figure canvas { filter: brightness(0.88); }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: break-word;
  font: 1.0625rem/1.62 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main { max-width: 62rem; margin: 0 auto; padding: clamp(1.5rem, 5vw, 4rem) clamp(1rem, 4vw, 2.5rem) 4rem; }
h1 {
  font-size: clamp(1.75rem, 1.2rem + 2.4vw, 2.6rem); line-height: 1.15; letter-spacing: -0.02em;
  margin: 0 0 0.75rem;
}
h2 { font-size: 1.35rem; line-height: 1.3; letter-spacing: -0.01em; margin: 0 0 0.6rem; }
p { max-width: 44rem; margin: 0 0 1rem; }
.lead { font-size: 1.2rem; line-height: 1.55; color: var(--soft); }
section { margin-top: 2.75rem; }
figure { margin: 1.5rem 0; }
figure img, figure canvas {
  display: block; max-width: 100%; height: auto; margin: 0 auto;
  border-radius: 10px; box-shadow: var(--shade);
}
figcaption, caption {
  color: var(--soft); font-size: 0.92rem; line-height: 1.5; margin-top: 0.6rem; text-align: left;
}
.wide, pre, .facts div { background: var(--card); border-radius: 10px; box-shadow: var(--shade); }
.wide { overflow-x: auto; margin: 1.25rem 0; }
table { border-collapse: collapse; width: 100%; font-size: 0.95rem; font-variant-numeric: tabular-nums; }
caption { caption-side: bottom; padding: 0.6rem 1rem 0.8rem; margin: 0; border-top: 1px solid var(--line); }
th, td { text-align: left; padding: 0.5rem 1rem; border-bottom: 1px solid var(--line); }
tbody tr:last-child td { border-bottom: 0; }
th { color: var(--soft); font-weight: 600; font-size: 0.86rem; white-space: nowrap; }
.number { text-align: right; white-space: nowrap; }
.facts {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: 0.9rem; margin: 1.5rem 0;
}
.facts div {
  display: flex; flex-direction: column-reverse; justify-content: flex-end; padding: 0.9rem 1.1rem;
}
.facts dt { color: var(--soft); font-size: 0.88rem; line-height: 1.4; }
.facts dd {
  margin: 0; font-size: 1.5rem; line-height: 1.3; font-weight: 650; letter-spacing: -0.01em;
  color: var(--accent);
}
pre { overflow-x: auto; padding: 0.9rem 1.1rem; margin: 1.25rem 0; font-size: 0.9rem; line-height: 1.5; }
code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.film { width: fit-content; max-width: 100%; margin-inline: auto; }
.bar { display: flex; align-items: center; gap: 0.75rem; margin-top: 0.6rem; }
.bar[hidden] { display: none; }
.bar button {
  flex: none; width: 2.4rem; height: 2.4rem; padding: 0; border: 1px solid var(--line); border-radius: 50%;
  background: var(--card); color: var(--ink); cursor: pointer;
}
.bar svg { display: block; margin: auto; fill: currentColor; }
.bar button .pause, .playing .bar button .play { display: none; }
.playing .bar button .pause { display: block; }
.bar input { flex: 1; min-width: 0; accent-color: var(--accent); }
.bar output { flex: none; color: var(--soft); font-size: 0.88rem; font-variant-numeric: tabular-nums; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
@media (max-width: 34rem) { th, td { padding: 0.45rem 0.7rem; } body { font-size: 1rem; } }
@media print {
  .bar { display: none; }
  .wide, .facts div, pre { box-shadow: none; border: 1px solid var(--line); }
}
"""

CONTROLS = (
    '<div class="bar" hidden><button type="button" aria-label="Play">'
    '<svg class="play" width="14" height="14" viewBox="0 0 14 14"><path d="M3 1l10 6-10 6z"/></svg>'
    '<svg class="pause" width="14" height="14" viewBox="0 0 14 14">'
    '<path d="M2 1h3.5v12H2zM8.5 1H12v12H8.5z"/></svg></button>'
    '<input type="range" min="0" max="{last}" value="0" aria-label="Frame"><output>0.00 s</output></div>'
)

PLAYER = """
for (const film of document.querySelectorAll(".film")) {
  const still = film.querySelector("img"), canvas = document.createElement("canvas");
  const bar = film.querySelector(".bar"), button = bar.querySelector("button");
  const slider = bar.querySelector("input"), clock = bar.querySelector("output");
  const fps = Number(film.dataset.fps);
  const frames = JSON.parse(film.querySelector("script").textContent).map((source) => {
    const image = new Image(); image.src = source; return image;
  });
  let now = 0, started = null, seen = false;
  let wanted = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  const show = (index) => {
    now = index;
    if (frames[index].complete) canvas.getContext("2d").drawImage(frames[index], 0, 0);
    else frames[index].onload = () => { if (now === index) show(index); };
    slider.value = index;
    clock.value = (index / fps).toFixed(2) + " s";
  };
  const tick = (time) => {
    if (started === null) return;
    const index = Math.floor((time - started) / 1000 * fps) % frames.length;
    if (index >= 0 && index !== now) show(index);
    requestAnimationFrame(tick);
  };
  const update = () => {
    const run = wanted && seen;
    film.classList.toggle("playing", wanted);
    button.setAttribute("aria-label", wanted ? "Pause" : "Play");
    if (run && started === null) {
      started = performance.now() - now / fps * 1000;
      requestAnimationFrame(tick);
    } else if (!run) started = null;
  };
  button.onclick = () => { wanted = !wanted; update(); };
  slider.oninput = () => { wanted = false; update(); show(Number(slider.value)); };
  canvas.width = still.getAttribute("width"); canvas.height = still.getAttribute("height");
  canvas.setAttribute("role", "img"); canvas.setAttribute("aria-label", still.alt);
  still.replaceWith(canvas);
  bar.hidden = false;
  new IntersectionObserver((entries) => { seen = entries.at(-1).isIntersecting; update(); }).observe(film);
  show(0); update();
}
"""
