-- expect: 65 hostile_string_metatable.lua:2: attempt to index a boolean value
getmetatable("").__index = nil
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
