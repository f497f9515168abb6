-- expect: 65 cutoff_no_box.lua:5: cutoff: expected box = { size } beside it, got no box
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1, position = {0.5, 0, 0} } },
  pair      = function(r2) return sim.exp(-r2) end,
  cutoff    = 2,
  integrate = { dt = 1/64, t_end = 1 },
}
