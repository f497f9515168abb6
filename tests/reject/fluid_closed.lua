-- expect: 65 sides.x_low.velocity: the fluid passes this side, and no side has a pressure at which it can leave or enter
-- lines: 2
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  sides = { x_low = { velocity = {1, 0} }, x_high = { velocity = {1, 0} } } }
