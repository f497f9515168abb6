-- expect: 65 escape_scheme.lua:4: escape: expected integrate.scheme = "ias15", got "whfast"
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  escape    = { radius = 9 },
  integrate = { scheme = "whfast", dt = 0.1, t_end = 1 },
}
