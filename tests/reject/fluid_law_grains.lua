-- expect: 65 viscosity: a function is not supported together with `grains`
return sim.fluid {
  grid = { n = {16, 16, 16}, size = {16, 16, 16} }, viscosity = function(shear) return 0.05 + 0.01 * shear end, speed = 0.1,
  grains = { { radius = 3.5, position = {8, 8, 8}, density = 2 } }, contact = { law = "linear", contact_time = 1, restitution = 0.9 },
  integrate = { t_end = 1 } }
