-- expect: 65 keys_param_default.lua:2: sim.param: the default of 'n' is missing
local n = sim.param("n")
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
