-- expect: 65 gates: expected at most 12 on a grid of 3 axes, got 13
local gates = {}
for i = 1, 13 do gates[i] = { axis = "x", at = i / 16 } end
return sim.fluid { grid = { n = {16, 16, 16}, size = {1, 1, 1} }, viscosity = 0.01, speed = 1,
  integrate = { t_end = 1 }, gates = gates }
