-- expect: 65 probes: point 1: expected a cell of the fluid, got one in a body
-- lines: 3
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  bodies = { sim.ball { point = {0.5, 0.5, 0}, radius = 0.2 } }, probes = { {0.5, 0.5, 0} } }
