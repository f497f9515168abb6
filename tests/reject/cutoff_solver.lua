-- expect: 65 cutoff_solver.lua:7: gravity.solver: has no effect with cutoff: pairs within it are found by lists
return sim.nbody {
  bodies    = { sim.lattice { cells = 3, temperature = 1 } },
  box       = { size = 5 },
  pair      = function(r2) return sim.exp(-r2) end,
  cutoff    = 2,
  gravity   = { solver = "direct" },
  integrate = { dt = 1/64, t_end = 1 },
}
