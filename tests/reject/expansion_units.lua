-- expect: 65 expansion_units.lua:5: expansion: expected no `units` beside it: H0 and gravity.G say the units, by default Mpc/h, km/s and 10^10 solar masses/h
return sim.nbody {
  units     = { length = "Mpc", mass = "Msun", time = "Gyr" },
  box       = { size = 50, boundary = "periodic" },
  expansion = { omega_m = 0.3, omega_lambda = 0.7, a_start = 0.1 },
  bodies    = { sim.zeldovich { n = 8 } },
  gravity   = { softening = 0.2 },
  integrate = { dt = 0.05, t_end = 1 },
}
