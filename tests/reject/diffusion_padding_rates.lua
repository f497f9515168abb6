-- expect: 65 integrate.dealias: has no effect: there are no rates
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01 } },
  integrate = { t_end = 1, dealias = "padding" },
}
