-- expect: 65 thermostat_friction.lua:7: thermostat.friction: expected a number with langevin
return sim.nbody {
  bodies    = { sim.lattice { cells = 3, temperature = 1 } },
  box       = { size = 5 },
  pair      = function(r2) return sim.exp(-r2) end,
  cutoff    = 2,
  thermostat = { kind = "langevin", temperature = 1 },
  integrate = { dt = 1/64, t_end = 1 },
}
