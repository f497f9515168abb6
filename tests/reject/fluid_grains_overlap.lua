-- expect: 65 grains: 0 (id, from 0) overlaps another grain or a wall by 0.387
return sim.fluid {
  grid = { n = {16, 16, 16}, size = {16, 16, 16}, boundary = "wall" }, viscosity = 0.1, speed = 0.1,
  grains = { { radius = 3.1, position = {8, 8, 8} }, { radius = 3.1, position = {8, 8, 13} } },
  contact = { contact_time = 10 },  integrate = { t_end = 10 } }
