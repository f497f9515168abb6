-- expect: 65 sides.z_low: grains need sides that are walls
return sim.fluid {
  grid = { n = {16, 16, 16}, size = {16, 16, 16}, boundary = "wall" }, viscosity = 0.1, speed = 0.1,
  grains = { { radius = 3.1, position = {8, 8, 8} } },
  contact = { contact_time = 10 }, sides = { z_low = { pressure = 0 } }, integrate = { t_end = 10 } }
