-- expect: 65 contact: a step of 1 would need 5e+08 substeps of 2e-09: expected at most 1e+05
return sim.fluid {
  grid = { n = {16, 16, 16}, size = {16, 16, 16}, boundary = "wall" }, viscosity = 0.1, speed = 0.1,
  grains = { { radius = 3.1, position = {8, 8, 8} } }, contact = { contact_time = 1e-7 },
  integrate = { dt = 1, t_end = 10 } }
