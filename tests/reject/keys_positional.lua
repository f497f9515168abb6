-- expect: 65 keys_positional.lua:4: gravity: expected named values only, got a list item at [1]
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { 1, 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
