// The page: a slider goes along the rig's motion, the mouse pulls at the flesh or turns the view.

import { Camera, Surface } from "./draw.js";
import { Motion } from "./motion.js";
import { readNpz } from "./npz.js";
import { Character } from "./posespace.js";

const MOST = 5;  // steps for one picture: a slow computer shows slow motion instead of stalling
const LAG = 0.08;  // [s] by which the pose follows the slider: hands jerk, flesh would be flung
const PULL = 150;  // [1/s²] stiffness of a pull, times the mass of the character
const NEAR = 0.08;  // of the picture's height: how near to a vertex one must click
const COLOURED = 0.02;  // of the character's size: displacement that is drawn in full colour

const find = (id) => document.getElementById(id);
const say = (text) => { find("said").textContent = text; };

async function load(name) {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name} is missing: make the folder with make.py.`);
  return readNpz(await answer.arrayBuffer());
}

class Player {
  constructor(model, stage) {
    this.character = new Character(model);
    this.motion = new Motion(stage);
    this.rows = this.motion.drawnRows(this.character);
    this.surface = new Surface(find("view"), this.motion.triangles);
    this.frame = this.motion.at(0);
    const { centre, size } = box(this.motion.parts.surface.data);
    this.camera = new Camera(centre, size, this.motion.values.up);
    Object.assign(this, { playing: true, clock: 0, at: 0, speed: 0, goal: 0, left: 0, cost: 0, grab: null });
    this.state = this.character.start(this.frame);
    this.listen();
    this.tick = this.tick.bind(this);
    requestAnimationFrame((now) => { this.last = now; requestAnimationFrame(this.tick); });
  }

  /** One picture: as many steps as time has passed, then a drawing. */
  tick(now) {
    const h = this.motion.values.step, passed = Math.min((now - this.last) / 1000, MOST * h);
    this.last = now;
    this.left += passed;
    for (; this.left >= h; this.left -= h) this.advance(h);
    const u = this.motion.displace(this.character, this.state, this.rows, this.frame), { size } = this.motion.values;
    this.places = u.map((x, k) => x + this.frame.surface[k]);
    const away = Array.from({ length: u.length / 3 }, (_, v) => Math.hypot(u[3 * v], u[3 * v + 1], u[3 * v + 2]));
    this.surface.draw(this.places, away.map((x) => x / (COLOURED * size)), this.camera);
    say(`${this.character.rank} coordinates, ${this.character.count} elements, ${this.cost.toFixed(2)} ms a step`);
    requestAnimationFrame(this.tick);
  }

  /** One step of the character, h seconds long. */
  advance(h) {
    this.movePose(h);
    this.frame = this.motion.at(this.at);
    const begin = performance.now(), pulls = this.grab ? [this.pull()] : [];
    try {
      this.state = this.character.step(this.state, this.frame, h, this.motion.values.gravity, pulls);
    } catch {
      this.state = this.character.start(this.frame);  // flung out of reach: at rest again
    }
    this.cost += 0.05 * (performance.now() - begin - this.cost);
  }

  /** The place in the motion: to and fro by itself, or after the slider as a damped spring would go. */
  movePose(h) {
    const { fps, loops } = this.motion.values, last = this.motion.frames - 1;
    if (this.playing) {
      this.clock += h;
      const way = (this.clock * fps) / last, to = loops ? last * (way % 1) : (last * (1 - Math.cos(Math.PI * way))) / 2;
      [this.speed, this.at, this.goal] = [0, to, to];
      find("pose").value = to / last;
      return;
    }
    const k = 1 / LAG;
    this.speed = (this.speed + h * k * k * (this.goal - this.at)) / (1 + h * k) ** 2;
    this.at += h * this.speed;
  }

  /** A spring from the grabbed vertex to where the mouse has it. */
  pull() {
    const { vertex, to } = this.grab, stiffness = PULL * this.motion.values.mass;
    const rows = this.motion.pullRows(this.character, this.rows, vertex, this.frame);
    return { rows, stiffness, force: to.map((x, k) => stiffness * (x - this.frame.surface[3 * vertex + k])) };
  }

  listen() {
    const view = find("view"), pose = find("pose"), play = find("play");
    const show = () => { play.textContent = this.playing ? "pause" : "play"; };
    play.addEventListener("click", () => { this.playing = !this.playing; this.clock = 0; show(); });
    pose.addEventListener("input", () => {
      this.playing = false;
      this.goal = pose.value * (this.motion.frames - 1);
      show();
    });
    view.addEventListener("pointerdown", (event) => { view.setPointerCapture(event.pointerId); this.seize(event); });
    view.addEventListener("pointermove", (event) => { if (event.buttons) this.drag(event); });
    view.addEventListener("pointerup", () => { this.grab = null; });
    view.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.camera.distance *= Math.exp(0.001 * event.deltaY);
    }, { passive: false });
  }

  /** Take hold of the vertex in front that is nearest to the mouse, if one is near. */
  seize(event) {
    const { clientWidth, clientHeight } = event.target, { aspect } = this.surface;
    const x = (2 * event.offsetX) / clientWidth - 1, y = 1 - (2 * event.offsetY) / clientHeight;
    let best = { score: Infinity };
    for (let v = 0; v < this.places.length / 3; v++) {
      const place = Array.from(this.places.subarray(3 * v, 3 * v + 3)), [a, b, depth] = this.camera.project(place, aspect);
      const gap = Math.hypot((a - x) * aspect, b - y) / 2, score = gap + (0.2 * depth) / this.camera.distance;
      if (gap < NEAR && score < best.score) best = { score, vertex: v, to: place, depth };
    }
    this.grab = best.score < Infinity ? best : null;
  }

  drag(event) {
    const { clientWidth, clientHeight } = event.target;
    const dx = (2 * event.movementX) / clientWidth, dy = (-2 * event.movementY) / clientHeight;
    if (this.grab) {
      const way = this.camera.unproject(dx, dy, this.grab.depth, this.surface.aspect);
      this.grab.to = this.grab.to.map((value, k) => value + way[k]);
    } else {
      this.camera.yaw -= 2 * dx;
      this.camera.pitch = Math.min(Math.max(this.camera.pitch - 2 * dy, -1.5), 1.5);
    }
  }
}

/** The middle and the diagonal of the box around places (s, 3). */
function box(places) {
  const ends = [0, 1, 2].map((k) => {
    let low = Infinity, high = -Infinity;
    for (let v = k; v < places.length; v += 3) [low, high] = [Math.min(low, places[v]), Math.max(high, places[v])];
    return [low, high];
  });
  return { centre: ends.map(([low, high]) => (low + high) / 2), size: Math.hypot(...ends.map(([low, high]) => high - low)) };
}

try {
  globalThis.player = new Player(await load("model.npz"), await load("stage.npz"));
} catch (error) {
  const remedy = location.protocol === "file:" ? " Browsers read files from a server only: python -m http.server" : "";
  say(error.message + remedy);
}
