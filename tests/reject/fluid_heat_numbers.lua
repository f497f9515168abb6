-- expect: 65 heat.gravity: expected 2 numbers, one for each axis of the grid, got 3
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1,
  heat = { diffusivity = 0.1, expansion = 1, gravity = {0, 0, 1} }, integrate = { t_end = 1 } }
