-- expect: 65 thermostat_scheme.lua:7: thermostat: is for integrate.scheme = "leapfrog" with shared steps
return sim.nbody {
  bodies    = { sim.lattice { cells = 3, temperature = 1 } },
  box       = { size = 5 },
  pair      = function(r2) return sim.exp(-r2) end,
  cutoff    = 2,
  thermostat = { kind = "langevin", temperature = 1, friction = 1 },
  integrate = { scheme = "yoshida4", dt = 1/64, t_end = 1 },
}
