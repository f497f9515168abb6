-- expect: 66 fluid_stl_missing.lua: line 4: bodies[1].path: nothing.stl: No such file or directory
return sim.fluid {
  grid = { n = {16, 16, 16}, size = {1, 1, 1} }, viscosity = 0.1, speed = 1,
  bodies = { sim.stl { path = "nothing.stl" } }, integrate = { t_end = 1 } }
