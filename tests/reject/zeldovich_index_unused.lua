-- expect: 65 zeldovich_index_unused.lua:5: bodies[1].index: has no effect: power is given
return sim.nbody {
  box       = { size = 50, boundary = "periodic" },
  expansion = { omega_m = 0.3, omega_lambda = 0.7, a_start = 0.1 },
  bodies    = { sim.zeldovich { n = 8, index = 1, power = { {0.01, 1}, {100, 1} } } },
  gravity   = { softening = 0.2 },
  integrate = { dt = 0.05, t_end = 1 },
}
