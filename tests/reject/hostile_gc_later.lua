-- expect: 65 the script used more than
-- args: --lua-seconds 0.3
local m = {} for i = 1, 10 do setmetatable({}, m) end m.__gc = function() while true do end end
while true do local t = {} end
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
