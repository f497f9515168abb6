-- expect: 65 integrate.scheme: expected lie, etd1, etdrk2 or etdrk4, because fields have cross, got rodas3: or write cross diffusion in `flux`
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.1, cross = {0, 0.05} }, { name = "v", D = 0.1 } },
  rates     = function(u, v) return -u, -v end,
  integrate = { scheme = "rodas3", dt = 0.1, t_end = 1 },
}
