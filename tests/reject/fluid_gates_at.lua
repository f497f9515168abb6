-- expect: 65 gates[1].at: expected a coordinate from 0 to 2, got 2.5
return sim.fluid { grid = { n = {32, 16}, size = {2, 1} }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  gates = { { axis = "x", at = 2.5 } } }
