-- A star cluster in equilibrium: nothing should happen. Radii that hold a tenth, half ... of the mass (table
-- `lagrangian`) and the virial ratio 2K/|W| (table `energy`) stay where they are but for noise.

local n = sim.param("n", 4096, "stars")

return sim.nbody {
  title     = "Plummer's sphere",
  precision = "mixed",
  bodies    = { sim.plummer { n = n, mass = 1, radius = 3 * math.pi / 16 } },  -- total energy -1/4
  gravity   = { softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/32, t_end = 10 },
  output    = { snapshots = "every 1", tables = "every 0.5" },
}
