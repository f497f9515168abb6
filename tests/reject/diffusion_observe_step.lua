-- expect: 65 observe.step: this name is taken: every table has a column step
return sim.diffusion {
  grid      = { n = {16, 8}, size = {1, 1}, x = "no_flux" },
  fields    = { { name = "u", D = 1, initial = 1 } },
  observe   = { step = function(u) return u end },
  integrate = { t_end = 1 },
}
