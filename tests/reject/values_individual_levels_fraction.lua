-- expect: 65 values_individual_levels_fraction.lua:5: integrate.levels: expected an integer, got 2.5
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { softening = 0.1 },
  integrate = { steps = "individual", dt = 1/64, levels = 2.5, t_end = 1 },
}
