-- expect: 65 keys_100k_name.lua:4: gravity.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, [string.rep("a", 100000)] = 2 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
