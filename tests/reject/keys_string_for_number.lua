-- expect: 65 keys_string_for_number.lua:3: bodies[1].mass: expected a number, got the string "heavy"
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = "heavy", radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
