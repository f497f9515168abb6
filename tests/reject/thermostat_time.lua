-- expect: 65 thermostat.time: expected at least 5 steps of integrate.dt = 0.005 (100 and more are smooth), got 0.001
return sim.nbody {
  bodies = { sim.lattice { cells = 4, temperature = 1 } }, box = { size = 6 }, cutoff = 2.5,
  pair = function(r2) return 4 * (1 / r2^6 - 1 / r2^3) end,
  thermostat = { kind = "nose_hoover", temperature = 1, time = 0.001 }, integrate = { dt = 0.005, t_end = 1 },
}
