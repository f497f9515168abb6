-- expect: 65 collision: "trt" is not supported with bodies that move
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1, collision = "trt",
  bodies = { sim.ball { point = {0.5, 0.5, 0}, radius = 0.3, velocity = {0.1, 0, 0} } }, integrate = { t_end = 1 } }
