-- expect: 65 cutoff_half_box.lua:6: cutoff: expected at most half of box.size, 2.5, got 2.6
return sim.nbody {
  bodies    = { sim.lattice { cells = 3, temperature = 1 } },
  box       = { size = 5 },
  pair      = function(r2) return sim.exp(-r2) end,
  cutoff    = 2.6,
  integrate = { dt = 1/64, t_end = 1 },
}
