-- expect: 65 fields[1].sides.y_low: robin: expected at most 2048 cells along y, whose transform is a matrix, got 4096
return sim.diffusion {
  grid      = { n = {16, 4096}, size = {1, 1}, boundary = "no_flux" },
  fields    = {
    { name = "u", D = 1, sides = { y_low = { robin = { a = 1 } } } },
  },
  integrate = { t_end = 1 },
}
