-- expect: 65 merge_overlap.lua: bodies: 0 and 1 (ids, from 0) touch at the start: with merge expected a distance above the sum of their radii
return sim.nbody {
  bodies    = { { mass = 1, radius = 0.5 }, { mass = 1, radius = 0.6, position = {1, 0, 0} } },
  merge     = true,
  integrate = { scheme = "ias15", dt = "adaptive", t_end = 1 },
}
