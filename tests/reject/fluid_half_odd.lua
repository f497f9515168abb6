-- expect: 65 grid.n: expected an even number of cells along y with precision = "half", got 15
return sim.fluid { precision = "half", collision = "trt",
  grid = { n = {16, 15}, size = {16, 15}, boundary = "wall" }, viscosity = 0.1, speed = 1, integrate = { t_end = 1 } }
