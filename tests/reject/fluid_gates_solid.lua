-- expect: 65 gates[1]: expected cells of the fluid in the plane, got bodies alone
-- lines: 3
return sim.fluid { grid = { n = {32, 32}, size = {1, 1} }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  bodies = { sim.ball { point = {0.5, 0.5, 0}, radius = 0.3 } }, gates = { { axis = "x", at = 0.5, y = {0.4, 0.6} } } }
