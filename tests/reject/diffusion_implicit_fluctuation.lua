-- expect: 65 integrate.scheme: expected lie, strang, etd1, etdrk2 or etdrk4, because fields fluctuate, got rodas3
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.1, fluctuation = 0.1 } },
  rates     = function(u) return -u end,
  integrate = { scheme = "rodas3", dt = 0.1, t_end = 1 },
}
