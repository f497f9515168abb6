-- expect: 65 law_energy_timed.lua:6: integrate.max_energy_error: has no effect if external depends on t: the energy is not conserved
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  external = function(x, t) return x * t end,
  integrate = { dt = 1/64, t_end = 1, max_energy_error = 1e-3 },
}
