-- expect: 65 expansion_no_matter.lua:4: expansion.omega_m: expected a number in (0, 10], got 0
return sim.nbody {
  box       = { size = 50, boundary = "periodic" },
  expansion = { omega_m = 0, omega_lambda = 1, a_start = 0.1 },
  bodies    = { sim.zeldovich { n = 8 } },
  gravity   = { softening = 0.2 },
  integrate = { dt = 0.05, t_end = 1 },
}
