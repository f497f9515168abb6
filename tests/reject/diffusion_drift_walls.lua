-- expect: 65 fields[1].drift: expected 0 along x, which is not a periodic axis
return sim.diffusion {
  grid      = { n = {16, 8}, size = {1, 1}, x = "no_flux" },
  fields    = { { name = "u", D = 1, drift = {1, 0, 0} } },
  observe   = { u2 = function(u) return u^2 end },
  integrate = { t_end = 1 },
}
