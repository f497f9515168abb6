-- The bed of docs/performance.md: a cubic packing pressed together a little, six contacts each with friction and its
-- history, that moves as a whole, so that lists are made anew every 125 steps.
--   bench/bed.py 216 bed.h5
--   sim bench bench/bed.lua --set file=$PWD/bed.h5 --set across=216 --device cuda --warm 130 --steps 250
-- With another law of contacts:
--   sim bench bench/bed.lua --set file=$PWD/bed.h5 --set across=216 --set more=jkr --device cuda --warm 130 --steps 250
local across = sim.param("across", 216, "grains along a side")
local law    = sim.param("law", "hertz", "linear or hertz")
local more   = sim.param("more", "none", "none, rolling, twisting, sds, jkr, well, bridge")
local side   = 0.999 * across
local bed = {
  precision = "single",
  box       = { size = {side, side, side}, boundary = "periodic" },
  grains    = { sim.from_file { path = sim.param("file", "bed.h5", "what bench/bed.py wrote"), radius = 0.5, density = 6 / math.pi } },
  contact   = { law = "hertz", young = 2e4, poisson = 0.25, restitution = 0.5, friction = 0.5 },
  integrate = { dt = 0.002, t_end = 1e6 },
}
if law == "linear" then bed.contact = { law = "linear", stiffness = 1e3, restitution = 0.5, friction = 0.5 } end
local c = bed.contact
if more == "rolling" then c.rolling_friction = 0.1 end
if more == "twisting" then c.twisting_friction = 0.1 end
if more == "sds" then c.rolling = { model = "sds", stiffness = 200, damping = 0.1, coefficient = 0.05 } end
if more == "jkr" then c.cohesion = { model = "jkr", surface_energy = 1e-3 } end
if more == "well" then c.cohesion = { model = "square_well", energy = 1e-4, range = 0.01 } end
if more == "bridge" then
  c.cohesion = { model = "liquid_bridge", surface_tension = 0.01, contact_angle = 0.2, volume = 1e-5 }
end
return sim.collision(bed)
