-- expect: 65 law_energy_limit.lua:6: integrate.max_energy_error: needs potentials: the energy of a force alone is unknown
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  external = function(t) return 0, 0, t end,
  integrate = { dt = 1/64, t_end = 1, max_energy_error = 1e-3 },
}
