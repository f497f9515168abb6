-- expect: 65 forcing: expected u without robin at its walls along x
return sim.diffusion {
  grid      = { n = {16}, size = {1}, boundary = "no_flux" },
  fields    = {
    { name = "u", D = 1, sides = { x_low = { robin = { a = 1 } } } },
  },
  rates     = function(u) return 0*u end,
  forcing   = { fields = "u", k = {1, 9}, power = 1 },
  integrate = { scheme = "etd1", dt = 0.1, t_end = 1 },
}
