-- expect: 65 force is spread over 15.6 cells along each axis: expected a grid of at least as many along y, got 12
return sim.fluid {
  grid = { n = {32, 12, 32}, size = {32, 12, 32} }, viscosity = 0.1, speed = 0.1, drag = "stokes",
  grains = { { radius = 2, position = {8, 8, 8} } },
  contact = { contact_time = 10 },  integrate = { t_end = 10 } }
