-- The gas of docs/performance.md: spheres of unit mass and diameter at a packing of 0.3, from a lattice.
--   sim bench bench/gas.lua --set n=1000000 --warm 1500 --steps 500
local n        = sim.param("n", 1000000, "spheres")
local largest  = sim.param("largest", 1.0, "largest radius over the smallest; uniform between, unit mean volume")
local friction = sim.param("friction", 0.0, "above 0: the general solver")
local ratio    = largest > 1 and (largest ^ 4 - 1) / (4 * (largest - 1)) or 1 -- mean volume over the smallest one
local least    = 0.5 / ratio ^ (1 / 3)
local side     = (n * math.pi / 6 / 0.3) ^ (1 / 3)
local spheres  = { n = n, density = 6 / math.pi, temperature = 0.1 }
if largest > 1 then spheres.radii = {least, largest * least} else spheres.radius = 0.5 end
return sim.collision {
  precision = "single",
  box       = { size = {side, side, side}, boundary = "periodic" },
  grains    = { largest > 1 and sim.random_spheres(spheres) or sim.lattice(spheres) },
  contact   = { law = "linear", stiffness = 1000, friction = friction > 0 and friction or nil },
  integrate = { dt = 0.0014, t_end = 1e6 },
}
