-- Lists of the multipoles grow to their greatest where the angle is small; individual steps and tables beside them.
return sim.nbody {
  bodies    = { sim.uniform_sphere { n = 20000, mass = 1, radius = 1 } },
  gravity   = { softening = 0.01, solver = "fmm", error = 1e-6 },
  integrate = { steps = "individual", dt = 1/64, levels = 1, t_end = 1/64 },
  output    = { tables = "every 1 steps" },
}
