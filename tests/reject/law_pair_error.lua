-- expect: 65 law_pair_error.lua:5: gravity.error: has no effect: pair_force replaces gravity
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  pair_force = function(r2) return 1 end, gravity = { error = 1e-3 },
  integrate = { dt = 1/64, t_end = 1 },
}
