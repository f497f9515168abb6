-- expect: 65 law_pair_infinite.lua: bodies: the force on body 0 (from 0) at {0, 0, 0}, or its rate, is not finite
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  pair = function(r2) return 1 / (r2 - 1) end,
  integrate = { dt = 1/64, t_end = 1 },
}
