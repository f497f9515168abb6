-- expect: 65 slices_twice.lua:6: output.slices[2].name: 'a' is the name of another slice too
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01 } },
  integrate = { t_end = 1 },
  output    = { slices = { { name = "a", x = 0.5, when = "ends" }, { name = "a", y = 0.5, when = "ends" } } },
}
