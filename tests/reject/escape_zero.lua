-- expect: 65 escape_zero.lua:4: escape.radius: expected a number above 0, got 0
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  escape    = { radius = 0 },
  integrate = { scheme = "ias15", dt = "adaptive", t_end = 1 },
}
