-- expect: 65 keys_zero_key.lua:3: bodies[1].position: a table with the key [0] is not allowed here
return sim.nbody {
  bodies    = { sim.plummer { n = 10, mass = 1, radius = 1, position = { [0] = 1, 2, 3 } } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
