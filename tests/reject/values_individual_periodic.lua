-- expect: 65 values_individual_periodic.lua:6: integrate.steps: expected "shared", got "individual", which is for open space
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 0.1, position = {1, 1, 1} } },
  box       = { size = 2 },
  gravity   = { softening = 0.01 },
  integrate = { steps = "individual", dt = 1/64, t_end = 1 },
}
