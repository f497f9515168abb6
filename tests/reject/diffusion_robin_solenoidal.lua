-- expect: 65 solenoidal: expected sides along
return sim.diffusion {
  grid       = { n = {16, 16}, size = {1, 1}, boundary = "no_flux", x = "periodic" },
  solenoidal = "u, v",
  fields     = {
    { name = "u", D = 1, sides = { y_low = { robin = { a = 1 } } } },
    { name = "v", D = 1, sides = { y_low = { robin = { a = 1 } } } },
  },
  rates      = function(u, v) return 0*u, 0*v end,
  integrate  = { scheme = "etd1", dt = 0.1, t_end = 1 },
}
