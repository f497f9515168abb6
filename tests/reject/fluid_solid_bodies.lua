-- expect: 65 solid: is not supported together with `bodies`
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1} }, viscosity = 0.1, speed = 1, solid = { path = "nothing.png" },
  bodies = { sim.ball { point = {0.5, 0.5, 0}, radius = 0.3 } }, integrate = { t_end = 1 } }
