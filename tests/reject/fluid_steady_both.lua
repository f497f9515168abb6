-- expect: 65 steady: expected one of steady and stop_when, got both
return sim.fluid { grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1,
  sides = { y_high = { velocity = {1, 0} } }, steady = 1e-8, integrate = { t_end = 10 },
  stop_when = function(o) return sim.gt(o.kinetic, 1) end }
