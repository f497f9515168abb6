-- expect: 65 drag: expected a grid of three axes, got 2: a disc that moves slowly through an unbounded fluid has no drag
return sim.fluid {
  grid = { n = {16, 16}, size = {16, 16} }, viscosity = 0.1, speed = 0.1, contact = { contact_time = 10 }, drag = "stokes",
  grains = { { radius = 0.5, position = {8, 8, 0} } }, integrate = { t_end = 10 } }
