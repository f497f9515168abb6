-- expect: 65 diffusion_no_effect.lua:10: integrate.rtol: has no effect: there are no rates
-- lines: 7
return sim.diffusion {
  precision = "mixed",
  grid      = { n = {16}, size = {1}, boundary = "no_flux", x = "periodic" },
  fields    = { { name = "u", conserved = true, axes = {2, 1, 1}, file = { path = "u.h5", range = {1, 1} } } },
  integrate = {
    t_end   = 1,
    dealias = true,
    rtol    = 1e-5,
  },
}
