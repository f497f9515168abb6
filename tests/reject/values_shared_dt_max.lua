-- expect: 65 values_shared_dt_max.lua:5: integrate.dt_max: has no effect with a number for dt: expected dt = "adaptive"
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { softening = 0.1 },
  integrate = { dt = 1/64, dt_max = 0.1, t_end = 1 },
}
