-- expect: 65 integrate.scheme: expected lie, etd1, etdrk2, etdrk4 or rodas3 with courant, got strang
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01 }, { name = "v", D = 0.01 } },
  rates     = function(u, v) return -u, -v end,
  integrate = { scheme = "strang", courant = 0.5, velocity = "u, v", t_end = 1 },
}
