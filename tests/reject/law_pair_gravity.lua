-- expect: 65 law_pair_gravity.lua:5: gravity.G: has no effect: pair replaces gravity
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  pair = function(r2) return -1 / r2 end, gravity = { G = 1 },
  integrate = { dt = 1/64, t_end = 1 },
}
