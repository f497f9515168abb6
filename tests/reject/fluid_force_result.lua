-- expect: 65 force: expected 2 numbers, one for each axis of the grid, got 1
return sim.fluid { grid = { n = {16, 16}, size = {16, 16} }, viscosity = 0.1, speed = 1, integrate = { t_end = 1 },
  force = function(x) return 1 end }
