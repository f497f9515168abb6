-- expect: 65 resistance: is not supported together with `heat`
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1, collision = "trt",
  resistance = function(x, y) return 1 end, heat = { diffusivity = 0.1 }, integrate = { t_end = 1 } }
