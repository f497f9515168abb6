-- expect: 65 thermostat_both.lua:7: thermostat.friction: has no effect with nose_hoover: expected langevin
return sim.nbody {
  bodies    = { sim.lattice { cells = 3, temperature = 1 } },
  box       = { size = 5 },
  pair      = function(r2) return sim.exp(-r2) end,
  cutoff    = 2,
  thermostat = { kind = "nose_hoover", temperature = 1, friction = 1, time = 1 },
  integrate = { dt = 1/64, t_end = 1 },
}
