-- expect: 65 hostile_error_tostring.lua:2: the script's error object is a table
error(setmetatable({}, { __tostring = function() while true do end end }))
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
