-- expect: 65 law_observe_reduce.lua:5: observe.h.reduce: expected one of "sum", "mean", "min", "max"
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  observe = { h = { function(body) return body.x end, reduce = "maximum" } },
  integrate = { dt = 1/64, t_end = 1 },
}
