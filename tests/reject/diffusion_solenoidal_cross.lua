-- expect: 65 solenoidal: expected u without cross diffusion
return sim.diffusion {
  grid       = { n = {16, 16}, size = {1, 1} },
  fields     = { { name = "u", D = 0.01, cross = {0, 0.001} }, { name = "v", D = 0.01 } },
  solenoidal = "u, v",
  rates      = function(u, v, u_x, v_x) return -u * u_x, -v * v_x end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
