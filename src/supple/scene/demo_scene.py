"""The scene that `supple demo` runs, as the file a user finds in the folder."""

__all__ = ["DEMO_SCENE"]

DEMO_SCENE = """\
# A soft creature is shaken, hops and turns; its ears, arms, tail and belly follow.
# Change a number and run it again:  supple run creature.toml

[time]
fps = 24
substeps = 2
frames = 72
preroll = 12              # let it settle under its own weight before frame 0
integrator = "newmark"    # keeps the jiggle alive; "implicit_euler" calms it down

[mesh]
shape = "creature"
elements = 6000           # try 20000: finer, and slower

[material]
young = 4e4               # pascals; 1e4 wobbles like gelatine, 2e5 holds its shape
poisson = 0.4
density = 1000
damping_stiffness = 0.003

# What a skeleton would move: the soles, and a core in belly and head.
[[pin]]
name = "bones"
select = [
  "min y 4%",
  { sphere = { centre = [0.0, 0.34, 0.0], radius = 0.11 } },
  { sphere = { centre = [0.0, 0.66, 0.02], radius = 0.07 } },
]

[pin.move]
ease = "smooth"
keys = [
  { t = 0.00, by = [0.0, 0.0, 0.0] },
  { t = 0.25, by = [0.12, 0.0, 0.0] },
  { t = 0.55, by = [-0.12, 0.0, 0.0] },
  { t = 0.85, by = [0.12, 0.0, 0.0] },
  { t = 1.10, by = [0.0, 0.0, 0.0] },
  { t = 1.30, by = [0.0, 0.0, 0.0] },
  { t = 1.55, by = [0.0, 0.25, 0.0] },
  { t = 1.80, by = [0.0, 0.0, 0.0] },
]

[pin.turn]
axis = "y"
about = [0.0, 0.0, 0.0]
ease = "smooth"
keys = [
  { t = 1.9, degrees = 0 },
  { t = 2.1, degrees = 40 },
  { t = 2.4, degrees = -40 },
  { t = 2.6, degrees = 0 },
]

[output]
files = ["creature.usdc"]
"""
