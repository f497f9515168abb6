-- expect: 65 keys_control_characters.lua:4: gravity.G\x0a\x1b[31m\x00: unknown key
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, ["G\n\27[31m\0"] = 2 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
