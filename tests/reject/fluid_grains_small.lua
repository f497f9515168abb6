-- expect: 65 grains: 0 (id, from 0) is 5 cells across: expected at least 6
return sim.fluid {
  grid = { n = {16, 16, 16}, size = {16, 16, 16}, boundary = "wall" }, viscosity = 0.1, speed = 0.1,
  grains = { { radius = 2.5, position = {8, 8, 8} } },
  contact = { contact_time = 10 },  integrate = { t_end = 10 } }
