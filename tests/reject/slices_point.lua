-- expect: 65 slices_point.lua:6: output.slices[1]: no axis of the grid is left; for points use probes
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01 } },
  integrate = { t_end = 1 },
  output    = { slices = { { name = "a", x = 0.5, when = "ends" } } },
}
