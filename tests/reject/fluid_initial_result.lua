-- expect: 65 initial: expected 3 numbers, the velocity, or 4, with the pressure behind it, got 1
return sim.fluid { grid = { n = {16, 16, 16}, size = {16, 16, 16} }, viscosity = 0.1, speed = 1,
  initial = function(x) return 1 end, integrate = { t_end = 1 } }
