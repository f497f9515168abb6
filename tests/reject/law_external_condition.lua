-- expect: 65 law_external_condition.lua:5: external: result 1 is a condition, expected a number
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  external = function(x) return sim.lt(x, 1) end,
  integrate = { dt = 1/64, t_end = 1 },
}
