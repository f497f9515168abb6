-- expect: 65 slices_stride.lua:6: output.slices[1].stride: expected
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01 } },
  integrate = { t_end = 1 },
  output    = { slices = { { name = "a", stride = 0, when = "ends" } } },
}
