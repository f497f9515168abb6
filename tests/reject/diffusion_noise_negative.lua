-- expect: 65 fields[1].noise: expected a number of at least 0, got -1
return sim.diffusion {
  grid      = { n = {16, 8}, size = {1, 1}, x = "no_flux" },
  fields    = { { name = "u", D = 1, noise = -1 } },
  integrate = { t_end = 1 },
}
