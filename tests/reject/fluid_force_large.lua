-- expect: 65 force: is 1000, by which the fluid at rest is faster than speed = 1 after one step of 
return sim.fluid { grid = { n = {16, 16}, size = {16, 16} }, viscosity = 0.1, speed = 1, integrate = { t_end = 1 },
  force = function(x) return 1000, 0 end }
