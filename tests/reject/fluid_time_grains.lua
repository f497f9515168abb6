-- expect: 65 sides: a velocity or pressure that changes with time is not supported together with `grains`
return sim.fluid {
  grid = { n = {16, 16, 16}, size = {16, 16, 16}, z = "wall" }, viscosity = 0.05, speed = 0.1,
  sides = { z_high = { profile = function(x, y, z, t) return 0.1 * math.sin(t), 0, 0 end } },
  grains = { { radius = 3.5, position = {8, 8, 8}, density = 2 } }, contact = { law = "linear", contact_time = 1, restitution = 0.9 },
  integrate = { t_end = 1 } }
