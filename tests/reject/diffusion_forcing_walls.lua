-- expect: 65 forcing: expected values and slopes of 0 at the walls of u
return sim.diffusion {
  grid      = { n = {16}, size = {2 * math.pi}, boundary = "no_flux" },
  fields    = { { name = "u", D = 0.01, initial = 1, sides = { x_low = { value = 1 } } } },
  rates     = function(u) return -u end,
  forcing   = { fields = "u", k = {1, 2}, power = 1 },
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
