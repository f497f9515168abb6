-- expect: 65 values_shared_eta.lua:5: integrate.eta: has no effect with steps of one fixed length: expected dt = "adaptive", or steps = "individual"
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { softening = 0.1 },
  integrate = { dt = 1/64, eta = 0.1, t_end = 1 },
}
