-- expect: 65 zeldovich_sigma8_cut.lua:6: bodies[1].power: sigma8 expected rows of all waves that it consists of, k of some 0.01 to 3, got 0.1 to 1 with
-- The rows cover the waves of the lattice, and would be scaled too high.
return sim.nbody {
  box       = { size = 50, boundary = "periodic" },
  expansion = { omega_m = 0.3, omega_lambda = 0.7, a_start = 0.1 },
  bodies    = { sim.zeldovich { n = 8, sigma8 = 0.8, power = { {0.1, 3000}, {0.3, 500}, {1, 40} } } },
  gravity   = { softening = 0.2 },
  integrate = { dt = 0.05, t_end = 1 },
}
