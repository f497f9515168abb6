-- expect: 65 cutoff_no_law.lua:5: cutoff: has no effect without pair or pair_force
return sim.nbody {
  bodies    = { sim.lattice { cells = 3, temperature = 1 } },
  box       = { size = 5 },
  cutoff    = 2,
  integrate = { dt = 1/64, t_end = 1 },
}
