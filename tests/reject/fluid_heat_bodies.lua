-- expect: 65 heat: bodies that move in a fluid with `heat` are not supported
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1,
  heat = { diffusivity = 0.1 }, bodies = { sim.ball { point = {0.5, 0.5, 0}, radius = 0.2, velocity = {0.1, 0, 0} } },
  integrate = { t_end = 1 } }
