-- expect: 65 integrate.dt: expected a number, or the scheme etdrk2 or etdrk4, because strang is of order 1 with dealias
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  rates     = function(u) return u end,
  integrate = { scheme = "strang", dealias = true, dt = "auto", t_end = 1 },
}
