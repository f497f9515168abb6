-- expect: 65 integrate.scheme: expected lie, etd1, etdrk2, etdrk4 or rodas3, because there are fluxes
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  flux      = function(u) return u, u end,
  integrate = { scheme = "strang", dt = 0.01, t_end = 1 },
}
