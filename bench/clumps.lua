-- Spheres that fall on a floor and come to rest, each for itself or three a clump. For the time of a step in either
-- case, see docs/performance.md.
local clumps = sim.param("clumps", 1, "1: clumps; 0: loose spheres")
local n      = sim.param("n", 600, "spheres, 600 on a square of unit side")
local side   = (n / 600)^0.5
local r      = 0.05

local grains = sim.random_spheres { n = n, radius = r, low = {0, 0, 0}, high = {side, side, 1.2} }
if clumps == 1 then
  grains = sim.clumps { n = n / 3, spheres = { {-r, 0, 0, r}, {r, 0, 0, r}, {0, math.sqrt(3) * r, 0, r} },
                        low = {0, 0, 0}, high = {side, side, 2.4} }
end

return sim.collision {
  box       = { size = {side, side, 3}, boundary = "periodic", z_low = "wall", z_high = "open" },
  grains    = { grains },
  gravity   = {0, 0, -10},
  contact   = { stiffness = 500, restitution = 0.3, friction = 0.5 },
  integrate = { dt = 1e-4, t_end = sim.param("t", 1.5, "end time") },
  output    = { snapshots = "ends", tables = "ends", checkpoint = "every 1000 s" },
}
