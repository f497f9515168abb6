-- expect: 65 integrate.scheme: expected exact, because there are no rates, got rodas3
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.1, noise = 1 } },
  integrate = { scheme = "rodas3", dt = 0.1, t_end = 10 },
}
