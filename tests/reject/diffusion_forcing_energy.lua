-- expect: 65 forcing: the energy of u at wavenumbers 1 to 2 is 0, and forcing multiplies what is there
return sim.diffusion {
  grid      = { n = {16}, size = {2 * math.pi} },
  fields    = { { name = "u", D = 0.01 } },
  rates     = function(u) return -u end,
  forcing   = { fields = "u", k = {1, 2}, power = 1 },
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
