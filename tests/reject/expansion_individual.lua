-- expect: 65 expansion_individual.lua:7: integrate.steps: expected "shared", got "individual", whose steps halve a time, and not da/a as with expansion
return sim.nbody {
  box       = { size = 50, boundary = "periodic" },
  expansion = { omega_m = 0.3, omega_lambda = 0.7, a_start = 0.1 },
  bodies    = { sim.zeldovich { n = 8 } },
  gravity   = { softening = 0.2 },
  integrate = { dt = 0.05, steps = "individual", t_end = 1 },
}
