-- expect: 65 keys_each_nil.lua:3: sim.each: f(1) returns nil, expected a table
return sim.nbody {
  bodies    = { sim.each(5, function(i) end) },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
