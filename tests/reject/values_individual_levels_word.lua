-- expect: 65 values_individual_levels_word.lua:5: integrate.levels: expected an integer or "auto", got the string "all"
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { softening = 0.1 },
  integrate = { dt = 1/64, steps = "individual", levels = "all", t_end = 1 },
}
