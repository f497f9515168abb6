-- expect: 65 sides.x_low.pressure: is 0.1005
-- lines: 3
return sim.fluid {
  grid = { n = {8, 8}, size = {8, 8}, boundary = "wall", y = "slip" }, viscosity = 0.05, speed = 0.1,
  sides = { x_low = { pressure = function(t) return 1e-3 * t end }, x_high = { pressure = 0 } },
  integrate = { dt = 1, t_end = 1000 } }
