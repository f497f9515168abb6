-- expect: 65 whfast_adaptive.lua:4: integrate.dt: expected a number, got "adaptive": whfast has steps of one length
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1e-3, position = {1, 0, 0}, velocity = {0, 1, 0} } },
  integrate = { scheme = "whfast", dt = "adaptive", t_end = 1 },
}
