-- expect: 65 integrate.scheme: expected etd1, etdrk2 or etdrk4, because there is lyapunov, got rodas3
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.1, noise = 1 } },
  rates     = function(u) return u - u^3 end,
  lyapunov  = { every = 1 },
  integrate = { scheme = "rodas3", dt = 0.1, t_end = 10 },
}
