-- expect: 65 resistance: expected collision = "trt", which has it
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1} }, viscosity = 0.1, speed = 1, resistance = function(x) return x end,
  integrate = { t_end = 1 } }
