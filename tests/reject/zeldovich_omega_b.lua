-- expect: 65 zeldovich_omega_b.lua:5: bodies[1].omega_b: expected at most omega_m = 0.3, got 0.31
return sim.nbody {
  box       = { size = 50, boundary = "periodic" },
  expansion = { omega_m = 0.3, omega_lambda = 0.7, a_start = 0.1 },
  bodies    = { sim.zeldovich { n = 8, omega_b = 0.31 } },
  gravity   = { softening = 0.2 },
  integrate = { dt = 0.05, t_end = 1 },
}
