-- expect: 65 force: is not finite at x = 0.5, y = 0.5, z = 0, t = 0, velocity 0, 0, 0, T = 0
return sim.fluid { grid = { n = {16, 16}, size = {16, 16} }, viscosity = 0.1, speed = 1, integrate = { t_end = 1 },
  force = function(ux, uy) return -ux / math.sqrt(ux^2 + uy^2), 0 end }
