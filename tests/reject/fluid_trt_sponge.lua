-- expect: 65 collision: "trt" is not supported with a `sponge`
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1, collision = "trt",
  sides = { x_high = { pressure = 0, sponge = 0.6 } }, integrate = { t_end = 1 } }
