-- expect: 65 bodies[1].flux: has an effect in a fluid with `heat` alone
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1,
  bodies = { sim.ball { point = {0.5, 0.5, 0}, radius = 0.3, flux = 1 } }, integrate = { t_end = 1 } }
