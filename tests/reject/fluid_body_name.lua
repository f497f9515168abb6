-- expect: 65 bodies[1].name: expected at most 40 letters, digits and _, no digit first, got "a b"
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  bodies = { sim.ball { name = "a b", point = {0.3, 0.5, 0}, radius = 0.1 } } }
