-- expect: 65 forcing.k: "u, v" has no mode without divergence from 0.9 to 1.1 on this grid
return sim.diffusion {
  grid       = { n = {8, 8}, size = {math.pi, math.pi}, boundary = "no_flux" },
  solenoidal = "u, v",
  fields     = {
    { name = "u", sides = { x_low = { value = 0 }, x_high = { value = 0 } } },
    { name = "v", sides = { y_low = { value = 0 }, y_high = { value = 0 } } },
  },
  rates      = function(u, v) return 0*u, 0*v end,
  forcing    = { fields = "u, v", k = {0.9, 1.1}, power = 0.3, random = true },
  integrate  = { scheme = "etd1", dt = 0.1, t_end = 1 },
}
