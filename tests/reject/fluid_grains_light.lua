-- expect: 65 grains: 0 (id, from 0) has 0.9 times the density of the fluid
return sim.fluid {
  grid = { n = {16, 16, 16}, size = {16, 16, 16}, boundary = "wall" }, viscosity = 0.1, speed = 0.1,
  grains = { { radius = 3.1, position = {8, 8, 8}, density = 0.9 } },
  contact = { contact_time = 10 },  integrate = { t_end = 10 } }
