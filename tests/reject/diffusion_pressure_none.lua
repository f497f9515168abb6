-- expect: 65 pressure: expected rates or a flux: without them the pressure is 0
return sim.diffusion {
  grid       = { n = {8, 8}, size = {1, 1} },
  fields     = { { name = "u", D = 1, noise = 1 }, { name = "v", D = 1 } },
  solenoidal = "u, v",
  integrate  = { t_end = 1 },
  output     = { fields = "pressure" },
}
