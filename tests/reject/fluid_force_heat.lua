-- expect: 65 force: is a function of T, and there is no `heat`
return sim.fluid { grid = { n = {16, 16}, size = {16, 16} }, viscosity = 0.1, speed = 1, integrate = { t_end = 1 },
  force = function(T) return 0, T end }
