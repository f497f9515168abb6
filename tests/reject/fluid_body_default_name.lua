-- expect: 65 bodies[2].name: expected a name of its own, got that of bodies[1]
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  bodies = { sim.ball { point = {0.3, 0.5, 0}, radius = 0.2 },
             sim.ball { name = "body1", point = {0.7, 0.5, 0}, radius = 0.2 } } }
