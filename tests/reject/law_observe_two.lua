-- expect: 65 law_observe_two.lua:5: observe.h: expected 1 result, got 2
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  observe = { h = function(body) return body.x, body.y end },
  integrate = { dt = 1/64, t_end = 1 },
}
