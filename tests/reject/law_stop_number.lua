-- expect: 65 law_stop_number.lua:5: stop_when: result 1 is a number, expected a condition
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  stop_when = function(o) return o.kinetic end,
  integrate = { dt = 1/64, t_end = 1 },
}
