-- expect: 65 shift_force.lua:7: shift: has no effect with pair_force: the potential is unknown
return sim.nbody {
  bodies    = { sim.lattice { cells = 3, temperature = 1 } },
  box       = { size = 5 },
  pair_force = function(r2) return sim.exp(-r2) end,
  cutoff    = 2,
  shift     = "none",
  integrate = { dt = 1/64, t_end = 1 },
}
