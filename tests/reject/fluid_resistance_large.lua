-- expect: 65 resistance: is 1e+06 at x = 0.03125, y = 0.03125, z = 0: expected from 0 to 1/dt = 277.778
-- lines: 4
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1} }, viscosity = 0.1, speed = 1, resistance = function(x) return 1e6 end,
  collision = "trt", integrate = { t_end = 1 } }
