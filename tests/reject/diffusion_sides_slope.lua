-- expect: 65 fields[1].sides: expected slope = 0 along y, because these walls meet others that hold u at a value
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1}, boundary = "no_flux" },
  fields    = {
    { name = "u", D = 1, sides = { x_low = { value = 1 }, y_low = { slope = 2 } } },
  },
  integrate = { t_end = 1 },
}
