-- expect: 65 grains: clumps in a fluid are not supported
return sim.fluid {
  grid = { n = {16, 16, 16}, size = {16, 16, 16}, boundary = "wall" }, viscosity = 0.1, speed = 0.1,
  grains = { sim.clump { spheres = {{0, 0, 0, 3.1}, {3, 0, 0, 3.1}}, position = {8, 8, 8} } },
  contact = { stiffness = 100 },  integrate = { t_end = 10 } }
