-- expect: 65 rdf_no_box.lua:4: rdf: expected box = { size } beside it, got no box
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1, position = {0.5, 0, 0} } },
  rdf       = {},
  integrate = { dt = 1/64, t_end = 1 },
}
