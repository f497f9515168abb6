-- expect: 65 expansion_dt_large.lua:7: integrate.dt: expected da/a of a step, a number up to 0.5, with expansion
return sim.nbody {
  box       = { size = 50, boundary = "periodic" },
  expansion = { omega_m = 0.3, omega_lambda = 0.7, a_start = 0.1 },
  bodies    = { sim.zeldovich { n = 8 } },
  gravity   = { softening = 0.2 },
  integrate = { dt = 0.6, t_end = 1 },
}
