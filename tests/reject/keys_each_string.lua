-- expect: 65 keys_each_string.lua:3: sim.each: f(1).mass is a string, expected a number or a list of numbers
return sim.nbody {
  bodies    = { sim.each(5, function(i) return { mass = "1", position = {0,0,0} } end) },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
