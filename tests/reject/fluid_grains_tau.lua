-- expect: 65 integrate.dt: the relaxation time is 1.1 with dt = 2, and grains need at most 1
return sim.fluid {
  grid = { n = {16, 16, 16}, size = {16, 16, 16}, boundary = "wall" }, viscosity = 0.1, speed = 0.1,
  grains = { { radius = 3.1, position = {8, 8, 8} } },
  contact = { contact_time = 10 },  integrate = { dt = 2, t_end = 10 } }
