-- expect: 65 fields[1].sides.x_low: expected value or slope, got both: no series of sines and cosines is exact for a wall that mixes them
return sim.diffusion {
  grid      = { n = {16}, size = {1}, boundary = "no_flux" },
  fields    = {
    { name = "u", D = 1, sides = { x_low = { value = 1, slope = 2 } } },
  },
  integrate = { t_end = 1 },
}
