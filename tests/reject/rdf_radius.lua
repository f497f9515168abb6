-- expect: 65 rdf_radius.lua:7: rdf.radius: expected at most half of box.size, 2.5, got 3
return sim.nbody {
  bodies    = { sim.lattice { cells = 3, temperature = 1 } },
  box       = { size = 5 },
  pair      = function(r2) return sim.exp(-r2) end,
  cutoff    = 2,
  rdf       = { radius = 3 },
  integrate = { dt = 1/64, t_end = 1 },
}
