-- The same in a periodic box, beside the direct sums that measure the error.
return sim.nbody {
  precision = "mixed",
  box       = { size = 8 },
  bodies    = { sim.plummer { n = 20000, mass = 1, radius = 1 } },
  gravity   = { softening = 0.01, solver = "fmm", error = 1e-4 },
  integrate = { dt = 1/64, t_end = 1/64 },
  output    = { tables = "every 1 steps" },
}
