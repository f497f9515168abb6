-- expect: 65 keys_function_bodies.lua:3: bodies: expected a list, got a function
return sim.nbody {
  bodies    = function(x) return x end,
  gravity   = { softening = 0.02 },
  integrate = { dt = 1/256, t_end = 1 },
}
