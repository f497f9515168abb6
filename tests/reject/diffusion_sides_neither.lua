-- expect: 65 fields[1].sides.x_high: expected value, slope or robin
return sim.diffusion {
  grid      = { n = {16}, size = {1}, boundary = "no_flux" },
  fields    = {
    { name = "u", D = 1, sides = { x_high = {} } },
  },
  integrate = { t_end = 1 },
}
