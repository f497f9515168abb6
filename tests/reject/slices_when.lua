-- expect: 65 slices_when.lua:6: output.slices[1].when: missing
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01 } },
  integrate = { t_end = 1 },
  output    = { slices = { { name = "a", x = 0.5 } } },
}
