-- expect: 65 fluid_side_periodic.lua:5: sides.y_high: expected grid.y = "wall", got "periodic"
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1} }, viscosity = 0.01, speed = 1,
  integrate = { t_end = 1 },
  sides = { y_high = { velocity = {1, 0} } } }
