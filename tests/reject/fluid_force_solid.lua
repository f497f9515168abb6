-- expect: 65 force: is not supported together with `solid`
return sim.fluid { grid = { n = {16, 16}, size = {16, 16} }, viscosity = 0.1, speed = 1, integrate = { t_end = 1 },
  solid = { path = "rock.png" }, force = function(x) return 0.1, 0 end }
