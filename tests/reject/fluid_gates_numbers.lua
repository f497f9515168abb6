-- expect: 65 gates[1].y: expected {from, to}, got 3 numbers
return sim.fluid { grid = { n = {32, 16}, size = {2, 1} }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  gates = { { axis = "x", at = 1, y = {0, 1, 2} } } }
