-- expect: 65 zeldovich_power_falls.lua:5: bodies[1].power: expected k > 0 and rising, and P > 0, got { 10, 1 } in row 3
return sim.nbody {
  box       = { size = 50, boundary = "periodic" },
  expansion = { omega_m = 0.3, omega_lambda = 0.7, a_start = 0.1 },
  bodies    = { sim.zeldovich { n = 8, power = { {0.01, 1}, {100, 1}, {10, 1} } } },
  gravity   = { softening = 0.2 },
  integrate = { dt = 0.05, t_end = 1 },
}
