-- expect: 65 keys_param_name.lua:2: sim.param: a name is made of letters, digits and underscores
local n = sim.param("a b", 1, "stars")
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
