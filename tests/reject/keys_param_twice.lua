-- expect: 65 keys_param_twice.lua:3: sim.param: 'n' is declared twice with different defaults
local n = sim.param("n", 1, "stars")
local m = sim.param("n", 2, "stars")
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
