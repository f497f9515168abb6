-- expect: 65 sides.x_low.profile: expected 3 numbers, one for each axis of the grid, got 1
return sim.fluid { grid = { n = {16, 16, 16}, size = {16, 16, 16}, boundary = "wall" }, viscosity = 0.1, speed = 1,
  sides = { x_low = { profile = function(y, t) return y * t end }, x_high = { pressure = 0 } }, integrate = { t_end = 1 } }
