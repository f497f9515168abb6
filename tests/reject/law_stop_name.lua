-- expect: 65 law_stop_name.lua:5: stop_when: unknown input 'kinetik', nearest is 'kinetic'
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  stop_when = function(o) return sim.gt(o.kinetik, 1) end,
  integrate = { dt = 1/64, t_end = 1 },
}
