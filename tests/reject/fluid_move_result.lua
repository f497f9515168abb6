-- expect: 65 bodies[1].motion: expected 2 numbers, one for each axis of the grid, got 1
return sim.fluid { grid = { n = {16, 16}, size = {16, 16} }, viscosity = 0.1, speed = 1, integrate = { t_end = 1 },
  bodies = { sim.ball { point = {8, 8, 0}, radius = 3, motion = function(t) return 0.1 end } } }
