-- expect: 65 bodies[1].name: is that of a side in the table `heat`: "y_low"
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1, heat = { diffusivity = 0.1 },
  bodies = { sim.ball { name = "y_low", point = {0.5, 0.5, 0}, radius = 0.2, temperature = 1 } }, integrate = { t_end = 1 } }
