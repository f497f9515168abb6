-- The bed of docs/performance.md: a cubic packing pressed together a little, six contacts each with friction and its
-- history, that moves as a whole, so that lists are made anew every 125 steps.
--   bench/bed.py 216 bed.h5
--   sim bench bench/bed.lua --set file=$PWD/bed.h5 --set across=216 --device cuda --warm 130 --steps 250
local across = sim.param("across", 216, "grains along a side")
local side   = 0.999 * across
return sim.collision {
  precision = "single",
  box       = { size = {side, side, side}, boundary = "periodic" },
  grains    = { sim.from_file { path = sim.param("file", "bed.h5", "what bench/bed.py wrote"), radius = 0.5, density = 6 / math.pi } },
  contact   = { law = "hertz", young = 2e4, poisson = 0.25, restitution = 0.5, friction = 0.5 },
  integrate = { dt = 0.002, t_end = 1e6 },
}
