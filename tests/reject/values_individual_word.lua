-- expect: 65 values_individual_word.lua:5: integrate.steps: expected one of "shared", "individual", got the string "block"
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { softening = 0.1 },
  integrate = { steps = "block", dt = 1/64, t_end = 1 },
}
