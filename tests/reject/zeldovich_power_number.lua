-- expect: 65 zeldovich_power_number.lua:5: bodies[1].power: expected a list of lists of numbers, or the path of a text file, got 3
return sim.nbody {
  box       = { size = 50, boundary = "periodic" },
  expansion = { omega_m = 0.3, omega_lambda = 0.7, a_start = 0.1 },
  bodies    = { sim.zeldovich { n = 8, power = 3 } },
  gravity   = { softening = 0.2 },
  integrate = { dt = 0.05, t_end = 1 },
}
