-- A pair law with a cutoff and a thermostat: lists of pairs and the bath are state.
return sim.nbody {
  precision  = "mixed",
  bodies     = { sim.lattice { cells = 12, temperature = 1 } },
  box        = { size = 20.5 },
  pair       = function(r2) local s = 1 / r2^3 return 4 * (s^2 - s) end,
  cutoff     = 2.5,
  thermostat = { kind = "langevin", temperature = 1, friction = 1 },
  rdf        = { bins = 40 },
  integrate  = { dt = 1/200, t_end = 40/200 },
  output     = { tables = "every 5 steps" },
}
