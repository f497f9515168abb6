-- expect: 65 gates[1].name: expected at most 40 letters, digits and _, no digit first, got "a gate"
return sim.fluid { grid = { n = {32, 16}, size = {2, 1} }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  gates = { { name = "a gate", axis = "x", at = 1 } } }
