-- expect: 65 keys_each_length.lua:3: sim.each: f(2).position has 2 items, but f(1).position has 3
return sim.nbody {
  bodies    = { sim.each(5, function(i) return { mass = 1, position = i == 1 and {0,0,0} or {0,0} } end) },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
