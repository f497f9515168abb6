-- expect: 65 gates[1].z: the grid has no axis z: grid.n has 2 numbers
return sim.fluid { grid = { n = {32, 16}, size = {2, 1} }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  gates = { { axis = "x", at = 1, z = {0, 1} } } }
