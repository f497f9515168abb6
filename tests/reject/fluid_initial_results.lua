-- expect: 65 initial: expected 2 numbers, the velocity, or 3, with the pressure behind it, got 4
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  initial = function(x, y) return 0, 0, 0, x end }
