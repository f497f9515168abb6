-- expect: 65 grains: the surface of 0 (id, from 0) moves with 0.131 at the start
return sim.fluid {
  grid = { n = {16, 16, 16}, size = {16, 16, 16}, boundary = "wall" }, viscosity = 0.1, speed = 0.1,
  grains = { { radius = 3.1, position = {8, 8, 8}, velocity = {0.1, 0, 0}, angular_velocity = {0, 0, 0.01} } },
  contact = { contact_time = 10 },  integrate = { t_end = 10 } }
