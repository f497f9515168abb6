-- expect: 65 hostile_function_symbols.lua:3: bodies[1].radius: expected a number, got a function
return sim.nbody {
  bodies    = { sim.plummer { n = 10, mass = 1, radius = function(x)
    setmetatable(x, {})
    return rawset(x, 1, 2)
  end } },
  gravity   = { softening = 0.02 },
  integrate = { dt = 1/256, t_end = 1 },
}
