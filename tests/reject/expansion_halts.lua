-- expect: 65 expansion_halts.lua:4: expansion.omega_lambda: with omega_m = 3 and omega_lambda = 0 the universe does not expand at all scale factors from 0 to 2
return sim.nbody {
  box       = { size = 50, boundary = "periodic" },
  expansion = { omega_m = 3, omega_lambda = 0, a_start = 0.1 },
  bodies    = { sim.zeldovich { n = 8 } },
  gravity   = { softening = 0.2 },
  integrate = { dt = 0.05, t_end = 2 },
}
