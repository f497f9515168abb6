-- expect: 65 bodies[1].spin: its surface is faster, 2, than `speed`, 1
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  bodies = { sim.cylinder { point = {0.3, 0.5, 0}, radius = 0.1, spin = 20 } } }
