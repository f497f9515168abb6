-- expect: 65 initial: the speed is 2 at x = 0.015625, y = 0.015625, z = 0: expected at most speed = 1
-- lines: 3
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  initial = function(x, y) return 2, 0 end }
