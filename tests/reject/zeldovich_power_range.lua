-- expect: 65 zeldovich_power_range.lua:5: bodies[1].power: expected k from at most 0.125664 to at least 0.652968, the waves of the lattice, got 0.2 to 100
return sim.nbody {
  box       = { size = 50, boundary = "periodic" },
  expansion = { omega_m = 0.3, omega_lambda = 0.7, a_start = 0.1 },
  bodies    = { sim.zeldovich { n = 8, power = { {0.2, 1}, {100, 1} } } },
  gravity   = { softening = 0.2 },
  integrate = { dt = 0.05, t_end = 1 },
}
