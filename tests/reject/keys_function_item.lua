-- expect: 65 keys_function_item.lua:3: bodies[1]: expected named values only, got a list item at [1]
return sim.nbody {
  bodies    = { { function(x) return x end, mass = 1 } },
  gravity   = { softening = 0.02 },
  integrate = { dt = 1/256, t_end = 1 },
}
