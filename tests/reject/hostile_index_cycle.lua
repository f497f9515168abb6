-- expect: 65 '__index' chain too long
local t = {} setmetatable(t, { __index = t }) getmetatable(t).__index = t local x = t.x
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
