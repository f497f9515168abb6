-- expect: 65 few_box.lua:5: integrate.scheme: whfast is for open space: expected no box
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1e-3, position = {1, 0, 0}, velocity = {0, 1, 0} } },
  box       = { size = 4 },
  integrate = { scheme = "whfast", dt = 0.01, t_end = 1 },
}
