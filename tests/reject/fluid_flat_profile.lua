-- expect: 65 sides.x_low.profile: is a function of z, which is 0 on a grid of two axes
return sim.fluid { grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1,
  sides = { x_low = { profile = function(x, y, z) return 4 * z * (1 - z), 0 end }, x_high = { pressure = 0 } },
  integrate = { t_end = 1 } }
