-- expect: 65 the script 
while true do local s = string.format("%99.99f%99.99f%99.99f", 1e300, 1e300, 1e300) end
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
