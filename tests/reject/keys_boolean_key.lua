-- expect: 65 keys_boolean_key.lua:4: gravity: a table with a boolean as a key is not allowed here
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, [true] = 2 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
