-- expect: 65 values_individual_dt_max.lua:5: integrate.dt_max: has no effect with steps = "individual": dt is the longest step
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { softening = 0.1 },
  integrate = { steps = "individual", dt = 1/64, dt_max = 1/64, t_end = 1 },
}
