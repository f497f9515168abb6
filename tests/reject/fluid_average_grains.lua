-- expect: 65 average: a flow with grains is not supported
return sim.fluid { grid = { n = {32, 32, 32}, size = {32, 32, 32} }, viscosity = 0.1, speed = 1, average = {},
  grains = { { radius = 4, position = {16, 16, 16}, density = 2 } },
  contact = { law = "linear", contact_time = 1, restitution = 0.9 }, integrate = { t_end = 1 } }
