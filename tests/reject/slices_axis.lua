-- expect: 65 slices_axis.lua:6: output.slices[1].w: unknown key
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01 } },
  integrate = { t_end = 1 },
  output    = { slices = { { name = "a", w = 0.5, when = "ends" } } },
}
