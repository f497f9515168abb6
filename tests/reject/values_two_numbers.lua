-- expect: 65 values_two_numbers.lua:5: bodies[1].mass: expected a number, got the string "1 2 Msun"
-- lines: 2
return sim.nbody {
  units     = { length = "kpc", mass = "1e10 Msun", time = "Myr" },
  bodies    = { sim.plummer { n = 16, mass = "1 2 Msun", radius = "3 4 kpc" } },
  gravity   = { softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
