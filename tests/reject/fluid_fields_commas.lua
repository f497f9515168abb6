-- expect: 65 output.fields: expected names among vorticity, q, shear, with commas between them: a name is missing
return sim.fluid { grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1,
  sides = { y_high = { velocity = {1, 0} } }, integrate = { t_end = 10 }, output = { fields = "q,,shear" } }
