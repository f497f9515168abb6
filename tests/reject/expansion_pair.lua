-- expect: 65 expansion_pair.lua:3: pair: expected gravity alone beside expansion
return sim.nbody {
  pair      = 0,
  box       = { size = 50, boundary = "periodic" },
  expansion = { omega_m = 0.3, omega_lambda = 0.7, a_start = 0.1 },
  bodies    = { sim.zeldovich { n = 8 } },
  integrate = { dt = 0.05, t_end = 1 },
}
