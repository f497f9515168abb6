-- expect: 65 law_pair_constant.lua:5: pair: expected a potential that depends on r2, or 0: this one gives no force
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  pair = 3,
  integrate = { dt = 1/64, t_end = 1 },
}
