-- expect: 65 grains: are not supported together with `bodies`
return sim.fluid {
  grid = { n = {16, 16, 16}, size = {16, 16, 16}, boundary = "wall" }, viscosity = 0.1, speed = 0.1,
  grains = { { radius = 3.1, position = {8, 8, 8} } },
  contact = { contact_time = 10 }, bodies = { sim.ball { point = {2, 2, 2}, radius = 1 } }, integrate = { t_end = 10 } }
