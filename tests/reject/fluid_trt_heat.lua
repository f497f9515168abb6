-- expect: 65 collision: "trt" is not supported with `heat`
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1, collision = "trt",
  heat = { diffusivity = 0.1 }, integrate = { t_end = 1 } }
