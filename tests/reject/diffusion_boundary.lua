-- expect: 65 no_flux
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1}, boundary = "noflux" },
  fields    = { { name = "u", D = 1, initial = 0 } },
  rates     = function(u) return u end,
  integrate = { scheme = "etd1", dt = 0.01, t_end = 1 },
}
