-- expect: 65 gates[1].x: the plane lies across this axis: expected a range of others
return sim.fluid { grid = { n = {32, 16}, size = {2, 1} }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  gates = { { axis = "x", at = 1, x = {0, 1} } } }
