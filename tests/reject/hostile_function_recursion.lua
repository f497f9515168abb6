-- expect: 65 hostile_function_recursion.lua:4: bodies[1].radius: expected a number, got a function
local function f(x) return f(x) + 1 end
return sim.nbody {
  bodies    = { sim.plummer { n = 10, mass = 1, radius = f } },
  gravity   = { softening = 0.02 },
  integrate = { dt = 1/256, t_end = 1 },
}
