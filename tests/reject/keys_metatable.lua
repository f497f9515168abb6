-- expect: 65 keys_metatable.lua:4: gravity: a table with a metatable is not allowed here
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = setmetatable({ G = 1 }, { __index = { softening = 1 } }),
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
