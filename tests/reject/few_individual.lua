-- expect: 65 few_individual.lua:5: integrate.steps: expected "shared", got "individual", which is for leapfrog, not ias15
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1e-3, position = {1, 0, 0}, velocity = {0, 1, 0} } },
  gravity   = { softening = 0.1 },
  integrate = { scheme = "ias15", steps = "individual", dt = 0.1, t_end = 1 },
}
