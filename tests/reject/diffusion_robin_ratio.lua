-- expect: 65 fields[1].sides.x_low: robin: expected a/b times the length of the axis from 1e-12 to 1e12, got 1e+15
return sim.diffusion {
  grid      = { n = {16}, size = {1}, boundary = "no_flux" },
  fields    = {
    { name = "u", D = 1, sides = { x_low = { robin = { a = 1e15 } } } },
  },
  integrate = { t_end = 1 },
}
