-- expect: 65 merge_scheme.lua:4: merge: expected integrate.scheme = "ias15", got "leapfrog"
return sim.nbody {
  bodies    = { { mass = 1, radius = 0.1 }, { mass = 1, position = {1, 0, 0} } },
  merge     = true,
  integrate = { dt = 0.1, t_end = 1 },
}
