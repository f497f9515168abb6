-- expect: 65 merge_no_radius.lua:4: merge: expected bodies with a radius, got none
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  merge     = true,
  integrate = { scheme = "ias15", dt = "adaptive", t_end = 1 },
}
