-- expect: 65 law_stop_clash.lua:6: stop_when: the tables energy and observe both have a column kinetic: write energy_kinetic or observe_kinetic
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  gravity   = { softening = 0.1 },
  observe   = { kinetic = function(body) return body.vx^2 end },
  stop_when = function(o) return sim.gt(o.kinetic, 1) end,
  integrate = { dt = 1/64, t_end = 1 },
}
