-- expect: 65 heat.initial: is a function of z, which is 0 on a grid of two axes
return sim.fluid { grid = { n = {16, 16}, size = {1, 1} }, viscosity = 0.1, speed = 1, integrate = { t_end = 1 },
  heat = { diffusivity = 0.1, initial = function(x, z) return z end } }
