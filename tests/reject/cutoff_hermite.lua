-- expect: 65 cutoff_hermite.lua:7: integrate.scheme: hermite4 needs the time derivative of forces, which a periodic box does not give: expected "leapfrog" or "yoshida4"
return sim.nbody {
  bodies    = { sim.lattice { cells = 3, temperature = 1 } },
  box       = { size = 5 },
  pair      = function(r2) return sim.exp(-r2) end,
  cutoff    = 2,
  integrate = { scheme = "hermite4", dt = 1/64, t_end = 1 },
}
