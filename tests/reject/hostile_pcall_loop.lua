-- expect: 65 hostile_pcall_loop.lua:3: the script 
-- args: --lua-seconds 0.3
while true do pcall(function() while true do end end) end
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
