-- expect: 65 magic: has an effect with collision = "trt" alone
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1} }, viscosity = 0.1, speed = 1, magic = 0.25, integrate = { t_end = 1 } }
