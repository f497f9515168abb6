-- expect: 65 sides: a velocity or pressure that changes with time is not supported together with bodies that move
return sim.fluid {
  grid = { n = {32, 32}, size = {32, 32}, boundary = "wall", x = "periodic" }, viscosity = 0.05, speed = 0.1,
  sides = { y_high = { profile = function(x, y, t) return 0.1 * math.sin(t), 0 end } },
  bodies = { sim.ball { point = {9, 9, 0}, radius = 4, velocity = {0.01, 0, 0} } }, integrate = { t_end = 10 } }
