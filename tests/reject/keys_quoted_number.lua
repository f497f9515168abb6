-- expect: 65 keys_quoted_number.lua:3: bodies[1].n: expected an integer, got the string "10"
return sim.nbody {
  bodies    = { sim.plummer { n = "10", mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
