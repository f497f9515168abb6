-- expect: 65 law_pair_both.lua:5: pair_force: expected one of pair and pair_force, got both
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  pair = function(r2) return r2 end, pair_force = function(r2) return 1 end,
  integrate = { dt = 1/64, t_end = 1 },
}
