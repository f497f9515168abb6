-- expect: 65 slices_outside.lua:6: output.slices[1].y: outside of the grid: expected a place from 0 to 1, got 1.5
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01 } },
  integrate = { t_end = 1 },
  output    = { slices = { { name = "a", y = 1.5, when = "ends" } } },
}
