-- expect: 65 rdf_bins.lua:7: rdf.bins: expected an integer in [1, 64], got 65
return sim.nbody {
  bodies    = { sim.lattice { cells = 3, temperature = 1 } },
  box       = { size = 5 },
  pair      = function(r2) return sim.exp(-r2) end,
  cutoff    = 2,
  rdf       = { bins = 65 },
  integrate = { dt = 1/64, t_end = 1 },
}
