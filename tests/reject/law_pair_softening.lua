-- expect: 65 law_pair_softening.lua:5: gravity.softening: has no effect: pair_force replaces gravity
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  pair_force = function(r2) return 1 end, gravity = { softening = 0.1 },
  integrate = { dt = 1/64, t_end = 1 },
}
