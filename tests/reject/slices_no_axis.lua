-- expect: 65 slices_no_axis.lua:6: output.slices[1].y: the grid has no axis y
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01 } },
  integrate = { t_end = 1 },
  output    = { slices = { { name = "a", y = 0.5, when = "ends" } } },
}
