-- expect: 65 force: is not supported together with `grains`
return sim.fluid {
  grid = { n = {16, 16, 16}, size = {16, 16, 16} }, viscosity = 0.1, speed = 1, integrate = { t_end = 1 },
  grains = { { radius = 4, density = 2, position = {8, 8, 8} } }, contact = { contact_time = 1 },
  force = function(x) return 1e-3, 0, 0 end }
