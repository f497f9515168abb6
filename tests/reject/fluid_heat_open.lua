-- expect: 65 sides.x_high: `heat` needs sides that the fluid does not pass
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1,
  heat = { diffusivity = 0.1 }, sides = { x_high = { pressure = 0 } }, integrate = { t_end = 1 } }
