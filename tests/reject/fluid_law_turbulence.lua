-- expect: 65 viscosity: a function is not supported together with `turbulence`
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, turbulence = { smagorinsky = 0.1 },
  viscosity = function(shear) return 0.05 + 0.01 * shear end, speed = 1, integrate = { t_end = 1 } }
