-- expect: 65 expansion_t_end.lua:7: integrate.t_end: expected a scale factor above expansion.a_start = 0.1, got 0.1
return sim.nbody {
  box       = { size = 50, boundary = "periodic" },
  expansion = { omega_m = 0.3, omega_lambda = 0.7, a_start = 0.1 },
  bodies    = { sim.zeldovich { n = 8 } },
  gravity   = { softening = 0.2 },
  integrate = { dt = 0.05, t_end = 0.1 },
}
