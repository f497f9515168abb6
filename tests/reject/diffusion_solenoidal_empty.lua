-- expect: 65 solenoidal: expected a field for each of two or three axes, got 0 for 2
return sim.diffusion {
  grid       = { n = {16, 16}, size = {1, 1} },
  fields     = { { name = "u", D = 0.01 }, { name = "v", D = 0.01 } },
  solenoidal = ", ,",
  integrate  = { t_end = 1 },
}
