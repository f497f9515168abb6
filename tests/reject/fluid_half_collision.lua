-- expect: 65 precision: "half" stores populations: expected collision = "trt"
return sim.fluid { precision = "half",
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1, integrate = { t_end = 1 } }
