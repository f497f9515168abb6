-- expect: 65 law_stop_clock.lua:5: stop_when: reads rows of tables: output.tables must be in steps or in simulated time
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  stop_when = function(o) return sim.gt(o.time, 1) end, output = { tables = "every 1 s" },
  integrate = { dt = 1/64, t_end = 1 },
}
