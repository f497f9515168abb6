-- expect: 65 sides.x_low.pressure: is not finite
return sim.fluid {
  grid = { n = {8, 8}, size = {8, 8}, boundary = "wall", y = "slip" }, viscosity = 0.05, speed = 0.1,
  sides = { x_low = { pressure = function(t) return math.log(t - 1) end }, x_high = { pressure = 0 } },
  integrate = { dt = 1, t_end = 1000 } }
