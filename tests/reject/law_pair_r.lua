-- expect: 65 law_pair_r.lua:5: pair: unknown input 'r', nearest is 'r2', expected r2
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  pair = function(r) return -1 / r end,
  integrate = { dt = 1/64, t_end = 1 },
}
