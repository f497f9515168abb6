-- expect: 65 expansion_twice.lua: bodies: expected a total mass of 1040762.35, omega_m 3 H0^2/(8 pi G) times the volume of the box, got 2081524.7
return sim.nbody {
  box       = { size = 50, boundary = "periodic" },
  expansion = { omega_m = 0.3, omega_lambda = 0.7, a_start = 0.1 },
  bodies    = { sim.zeldovich { n = 8 }, sim.zeldovich { n = 8 } },
  gravity   = { softening = 0.2 },
  integrate = { dt = 0.05, t_end = 1 },
}
