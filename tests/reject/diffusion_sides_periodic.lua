-- expect: 65 fields[1].sides.x_low: x is a periodic axis, which has no sides: grid.x = "no_flux" makes walls
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = {
    { name = "u", D = 1, sides = { x_low = { value = 1 } } },
  },
  integrate = { t_end = 1 },
}
