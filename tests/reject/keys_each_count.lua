-- expect: 65 keys_each_count.lua:3: sim.each: n is not an integer from 1 to 10000000
return sim.nbody {
  bodies    = { sim.each(1e18, function(i) return { mass = 1 } end) },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
