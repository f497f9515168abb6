-- expect: 65 initial: the pressure is -30 at x = 0.015625, y = 0.015625, z = 0, and changes the density by
-- lines: 3
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1} }, viscosity = 0.01, speed = 1, integrate = { dt = 1/320, t_end = 1 },
  initial = function(x, y) return 0, 0, -30 end }
