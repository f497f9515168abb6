-- A uniform sphere at rest falls into its centre. Without pressure every shell gets there at the same time,
-- t_ff = (pi/2) sqrt(R^3 / 2 G M); what comes out again is a system with a dense core and a wide halo.

local n    = sim.param("n", 4096, "bodies")
local R, M = 1, 1
local t_ff = math.pi / 2 * math.sqrt(R^3 / (2 * M))

return sim.nbody {
  title     = "Cold collapse",
  precision = "mixed",
  bodies    = { sim.uniform_sphere { n = n, mass = M, radius = R, virial = 0 } },
  gravity   = { softening = 0.03 },
  integrate = { scheme = "leapfrog", dt = "adaptive", dt_max = t_ff / 256, t_end = 3 * t_ff },
  output    = { snapshots = "every 0.1", tables = "every 0.05" },
}
