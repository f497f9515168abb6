-- expect: 65 integrate.dt: the viscosity 0.5 at low shear rates has the relaxation time 15.86 with dt = 0.01, and walls are wrong above 3: expected dt = "auto", or at most 0.00163
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" },
  viscosity = function(shear) return 0.05 / math.max(shear, 0.1) end, speed = 0.5, integrate = { dt = 0.01, t_end = 1 } }
