-- expect: 65 derived.p: has an imaginary part, and no axis is periodic
return sim.diffusion {
  grid      = { n = {16}, size = {1}, boundary = "no_flux" },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  derived   = { p = function(kx, u) return 0, kx * u end },
  rates     = function(u, p) return -u * p end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
