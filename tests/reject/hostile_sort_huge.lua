-- expect: 65 the script 
local t = {} for i = 1, 3e6 do t[i] = -i end table.sort(t, function(a, b) return a < b end) while true do end
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
