-- expect: 65 gates[2].name: expected a name of its own, got that of gates[1]
return sim.fluid { grid = { n = {32, 16}, size = {2, 1} }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  gates = { { name = "gate2", axis = "x", at = 1 }, { axis = "x", at = 1.5 } } }
