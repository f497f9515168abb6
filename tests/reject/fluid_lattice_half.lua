-- expect: 65 lattice: "D3Q27" is not supported with precision = "half"
return sim.fluid { lattice = "D3Q27", precision = "half", collision = "trt",
  grid = { n = {16, 16, 16}, size = {1, 1, 1} }, viscosity = 0.1, speed = 1, integrate = { t_end = 1 } }
