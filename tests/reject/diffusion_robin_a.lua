-- expect: 65 fields[1].sides.x_low.robin.a: missing
return sim.diffusion {
  grid      = { n = {16}, size = {1}, boundary = "no_flux" },
  fields    = {
    { name = "u", D = 1, sides = { x_low = { robin = { b = 1 } } } },
  },
  integrate = { t_end = 1 },
}
