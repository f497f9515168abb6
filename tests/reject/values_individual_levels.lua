-- expect: 65 values_individual_levels.lua:5: integrate.levels: expected an integer in [0, 20], got 21
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { softening = 0.1 },
  integrate = { steps = "individual", dt = 1/64, levels = 21, t_end = 1 },
}
