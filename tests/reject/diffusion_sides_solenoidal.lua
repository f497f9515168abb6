-- expect: 65 solenoidal: expected values and slopes of 0 at the walls of v
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1}, y = "no_flux" },
  fields    = {
    { name = "u", D = 1 },
    { name = "v", D = 1, sides = { y_low = { value = 1 }, y_high = { value = 1 } } },
  },
  solenoidal = "u, v",
  rates     = function(u, u_x) return -u*u_x, 0 end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
