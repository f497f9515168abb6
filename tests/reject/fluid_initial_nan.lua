-- expect: 65 initial: result 1 is
-- lines: 3
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  initial = function(x, y) return math.log(x - 0.5), 0 end }
