-- expect: 65 as much fluid in a step of 1 as is there: expected integrate.dt of at most
return sim.fluid {
  grid = { n = {16, 16, 16}, size = {16, 16, 16} }, viscosity = 0.15, speed = 0.1, drag = "di_felice",
  grains = { sim.random_spheres { n = 600, radius = 0.6, density = 3 } },
  contact = { contact_time = 10 },  integrate = { dt = 1, t_end = 10 } }
