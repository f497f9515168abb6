-- expect: 65 hostile_index_recursion.lua:2: 
local t = setmetatable({}, {}) getmetatable(t).__index = function(s, k) return s[k] end local x = t.x
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
