-- expect: 65 law_stop_always.lua:5: stop_when: the result does not depend on any of step, time, kinetic
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  stop_when = function(o) return true end,
  integrate = { dt = 1/64, t_end = 1 },
}
