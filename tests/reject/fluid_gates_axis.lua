-- expect: 65 gates[1].axis: the grid has no axis z: grid.n has 2 numbers
return sim.fluid { grid = { n = {32, 32}, size = {1, 1} }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  gates = { { axis = "z", at = 0.5 } } }
