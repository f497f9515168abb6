-- expect: 65 the script used more than 
-- args: --lua-seconds 0.3
local t = table.move({}, 1, 1e9, 2)
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
