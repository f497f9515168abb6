-- expect: 65 heat.initial: a temperature is 1e+200
-- lines: 4
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1,
  heat = { diffusivity = 0.1, initial = function(x, y) return 1e200 + x end }, integrate = { t_end = 1 } }
