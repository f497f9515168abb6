-- expect: 65 flux: expected periodic axes, and x is not a periodic axis
return sim.diffusion {
  grid      = { n = {16}, size = {1}, boundary = "no_flux" },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  flux      = function(u) return u end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
