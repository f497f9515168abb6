-- expect: 65 values_years.lua: integrate: 1e+15 steps until t_end = 1e+09 take about
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  gravity   = { softening = 0.1 },
  integrate = { scheme = "leapfrog", dt = 1e-6, t_end = 1e9 },
}
