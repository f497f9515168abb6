-- expect: 65 sides.x_low.straight: has an effect with a pressure alone
return sim.fluid {
  grid = { n = {16, 16}, size = {16, 16}, boundary = "wall" }, viscosity = 0.1, speed = 1, integrate = { t_end = 1 },
  sides = { x_low = { velocity = {1, 0}, straight = true }, x_high = { pressure = 0, straight = true } } }
