-- expect: 65 zeldovich_no_expansion.lua:4: bodies[1]: sim.zeldovich expected expansion = { omega_m, omega_lambda, a_start }
return sim.nbody {
  box       = { size = 50, boundary = "periodic" },
  bodies    = { sim.zeldovich { n = 8 } },
  gravity   = { softening = 0.2 },
  integrate = { dt = 0.05, t_end = 1 },
}
