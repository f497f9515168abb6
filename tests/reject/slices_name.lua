-- expect: 65 slices_name.lua:6: output.slices[1].name: expected 1 to 63 letters, digits and _
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01 } },
  integrate = { t_end = 1 },
  output    = { slices = { { name = "../a", x = 0.5, when = "ends" } } },
}
