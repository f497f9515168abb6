-- expect: 65 force: is a function of uz, which is 0 on a grid of two axes
return sim.fluid { grid = { n = {16, 16}, size = {1, 1} }, viscosity = 0.1, speed = 1, integrate = { t_end = 1 },
  force = function(ux, uz) return -ux, -uz end }
