-- expect: 65 fields[1].sides.x_low: x is a periodic axis, which has no sides
return sim.diffusion {
  grid      = { n = {16}, size = {1}, boundary = "periodic" },
  fields    = {
    { name = "u", D = 1, sides = { x_low = { robin = { a = 1 } } } },
  },
  integrate = { t_end = 1 },
}
