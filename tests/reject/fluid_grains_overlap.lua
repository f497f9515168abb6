-- expect: 65 grains: 0 and 1 (ids, from 0) overlap by 0.387 of the smaller radius at the start
return sim.fluid {
  grid = { n = {16, 16, 16}, size = {16, 16, 16}, boundary = "wall" }, viscosity = 0.1, speed = 0.1,
  grains = { { radius = 3.1, position = {8, 8, 8} }, { radius = 3.1, position = {8, 8, 13} } },
  contact = { contact_time = 10 },  integrate = { t_end = 10 } }
