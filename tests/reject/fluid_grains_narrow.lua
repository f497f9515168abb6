-- expect: 65 grid.size: 16 in x is periodic and less than 5 times the largest radius, 4
return sim.fluid {
  grid = { n = {16, 16, 24}, size = {16, 16, 24} }, viscosity = 0.1, speed = 0.1,
  grains = { { radius = 4, position = {8, 8, 8} } }, contact = { contact_time = 10 },
  integrate = { t_end = 10 } }
