-- expect: 65 keys_each_missing.lua:3: sim.each: f(3).mass is missing
return sim.nbody {
  bodies    = { sim.each(5, function(i) return i < 3 and { mass = 1, position = {0,0,0} } or { position = {0,0,0} } end) },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
