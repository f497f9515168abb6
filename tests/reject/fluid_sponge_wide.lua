-- expect: 65 sides.x_low.sponge: sponges along x are 42 wide, expected at most the box, 40
return sim.fluid {
  grid = { n = {40, 32}, size = {40, 32}, boundary = "wall" }, viscosity = 0.1, speed = 1, integrate = { t_end = 1 },
  sides = { x_low = { velocity = {1, 0}, sponge = 22 }, x_high = { pressure = 0, sponge = 20 } } }
