-- expect: 65 derived.p: expected a function that is even in kx, because x is not a periodic axis (member 2)
return sim.diffusion {
  members   = 2,
  grid      = { n = {16, 16}, size = {1, 1}, x = "no_flux" },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  derived   = { p = function(kx, ky, u, member) return u * (1 + kx * ky * (member - 1)) end },
  rates     = function(u, p) return -u * p end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
