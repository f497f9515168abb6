-- expect: 65 lyapunov: expected values and slopes of 0 at the walls of u
return sim.diffusion {
  grid      = { n = {12}, size = {math.pi}, boundary = "no_flux" },
  fields    = { { name = "u", D = 1, initial = 0.5, sides = { x_low = { value = 1 }, x_high = { value = 1 } } } },
  rates     = function(u) return u*(1 - u) end,
  lyapunov  = { every = 1 },
  integrate = { scheme = "etdrk4", dt = 0.02, t_end = 14 },
}
