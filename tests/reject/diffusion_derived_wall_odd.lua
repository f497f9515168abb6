-- expect: 65 derived.p: expected a function that is even in kx
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1}, x = "no_flux" },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  derived   = { p = function(kx, ky, u) return kx * ky * u end },
  rates     = function(u, p) return -u * p end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
