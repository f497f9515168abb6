-- expect: 65 integrate.dt: expected a number, or the scheme strang, etdrk2, etdrk4 or rodas3, got "auto" with etd1
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  rates     = function(u) return u end,
  integrate = { scheme = "etd1", dt = "auto", t_end = 1 },
}
