-- expect: 65 bodies[1].motion: expected 2 numbers, one for each axis of the grid, got 3
return sim.fluid {
  grid = { n = {40, 32}, size = {40, 32}, boundary = "wall" }, viscosity = 0.1, speed = 1, integrate = { t_end = 20 },
  bodies = { sim.ball { point = {20, 16, 0}, radius = 6,
    motion = function(t) return 0.1, 0, 0 end } } }
