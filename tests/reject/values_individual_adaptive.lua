-- expect: 65 values_individual_adaptive.lua:5: integrate.dt: expected a number, the longest step, with steps = "individual", got "adaptive"
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { softening = 0.1 },
  integrate = { steps = "individual", dt = "adaptive", t_end = 1 },
}
