-- Two bodies on an ellipse: how well does a scheme keep the energy?
-- Try --set scheme=yoshida4 or hermite4, and --set steps=256, and compare `error` in the table `energy`.

local e      = sim.param("e", 0.5, "eccentricity")
local steps  = sim.param("steps", 128, "steps an orbit")
local orbits = sim.param("orbits", 10, "orbits")
local scheme = sim.param("scheme", "leapfrog", "leapfrog, yoshida4 or hermite4")

-- Semi-major axis 1 and G M = 1: an orbit takes 2 pi. The start is at the nearest point, at rest as a whole.
local r, v   = 1 - e, math.sqrt((1 + e) / (1 - e))
local period = 2 * math.pi

return sim.nbody {
  title  = "Kepler's ellipse",
  bodies = {
    { mass = 0.5, position = { r/2, 0, 0}, velocity = {0,  v/2, 0} },
    { mass = 0.5, position = {-r/2, 0, 0}, velocity = {0, -v/2, 0} },
  },
  integrate = { scheme = scheme, dt = period / steps, t_end = orbits * period },
  output    = { snapshots = "every 0.5", tables = "every 1 steps" },
}
