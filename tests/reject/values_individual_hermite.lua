-- expect: 65 values_individual_hermite.lua:5: integrate.steps: expected "shared", got "individual", which is for leapfrog, not hermite4
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { softening = 0.1 },
  integrate = { scheme = "hermite4", steps = "individual", dt = 1/64, t_end = 1 },
}
