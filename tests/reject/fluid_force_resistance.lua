-- expect: 65 force: is not supported together with `resistance`: add -r*ux, -r*uy, ... to the force
return sim.fluid { grid = { n = {16, 16}, size = {16, 16} }, viscosity = 0.1, speed = 1, integrate = { t_end = 1 }, collision = "trt",
  resistance = function(x) return 0.1 end, force = function(x) return 0.1, 0 end }
