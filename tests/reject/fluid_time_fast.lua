-- expect: 65 sides.y_high.profile: the speed is 0.0
-- lines: 3
return sim.fluid {
  grid = { n = {8, 8}, size = {8, 8}, boundary = "wall", x = "periodic" }, viscosity = 0.05, speed = 0.01,
  sides = { y_high = { profile = function(x, y, t) return math.max(0.001, 0.1 - 1e-3 * (t - 500)^2), 0 end } },
  integrate = { dt = 1, t_end = 1000 } }
