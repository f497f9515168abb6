-- expect: 65 cutoff_adaptive.lua:7: integrate.dt: expected a number, got "adaptive": leapfrog has no length scale with a pair law; use hermite4
return sim.nbody {
  bodies    = { sim.lattice { cells = 3, temperature = 1 } },
  box       = { size = 5 },
  pair      = function(r2) return sim.exp(-r2) end,
  cutoff    = 2,
  integrate = { dt = "adaptive", t_end = 1 },
}
