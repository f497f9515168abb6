-- expect: 65 thermostat_cold.lua:7: thermostat.temperature: expected a number above 0, got 0
return sim.nbody {
  bodies    = { sim.lattice { cells = 3, temperature = 1 } },
  box       = { size = 5 },
  pair      = function(r2) return sim.exp(-r2) end,
  cutoff    = 2,
  thermostat = { kind = "langevin", temperature = 0, friction = 1 },
  integrate = { dt = 1/64, t_end = 1 },
}
