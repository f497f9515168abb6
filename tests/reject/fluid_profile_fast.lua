-- expect: 65 sides.x_low.profile: the speed is 1.0625 at x = 0, y = 0.265625
-- lines: 4
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  sides = { x_low = { profile = function(x, y) return 4 * y, 0 end }, x_high = { pressure = 0 } } }
