-- expect: 65 cutoff_zero.lua:6: cutoff: expected a number above 0, got 0
return sim.nbody {
  bodies    = { sim.lattice { cells = 3, temperature = 1 } },
  box       = { size = 5 },
  pair      = function(r2) return sim.exp(-r2) end,
  cutoff    = 0,
  integrate = { dt = 1/64, t_end = 1 },
}
