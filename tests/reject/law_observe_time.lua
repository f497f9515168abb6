-- expect: 65 law_observe_time.lua:5: observe.time: this name is taken: every table has a column time
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  observe = { time = function(body) return body.x end },
  integrate = { dt = 1/64, t_end = 1 },
}
