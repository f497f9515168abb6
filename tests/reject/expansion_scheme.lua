-- expect: 65 expansion_scheme.lua:7: integrate.scheme: expected "leapfrog", the only scheme with expansion
return sim.nbody {
  box       = { size = 50, boundary = "periodic" },
  expansion = { omega_m = 0.3, omega_lambda = 0.7, a_start = 0.1 },
  bodies    = { sim.zeldovich { n = 8 } },
  gravity   = { softening = 0.2 },
  integrate = { scheme = "yoshida4", dt = 0.05, t_end = 1 },
}
