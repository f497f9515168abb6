-- expect: 65 transfer: expected rates or a flux, which transfer
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  transfer  = 4,
  integrate = { t_end = 1 },
}
