-- expect: 65 the script used more than
local s = ("x"):rep(1000) for i = 1, 10 do s = s:gsub(".", "%0%0%0%0%0%0%0%0") end
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
