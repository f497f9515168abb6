-- expect: 65 resistance: is not supported together with bodies that move
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1, collision = "trt",
  resistance = function(x, y) return 1 end,
  bodies = { sim.ball { point = {0.5, 0.5, 0}, radius = 0.3, velocity = {0.1, 0, 0} } }, integrate = { t_end = 1 } }
