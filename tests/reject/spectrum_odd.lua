-- expect: 65 spectrum_odd.lua:7: spectrum: expected an even number from 4 to 2048, or 0, got 15
return sim.nbody {
  box       = { size = 50, boundary = "periodic" },
  expansion = { omega_m = 0.3, omega_lambda = 0.7, a_start = 0.1 },
  bodies    = { sim.zeldovich { n = 8 } },
  gravity   = { softening = 0.2 },
  spectrum  = 15,
  integrate = { dt = 0.05, t_end = 1 },
}
