-- expect: 65 solenoidal: expected a field for each of two or three axes, got 1 for 1
return sim.diffusion {
  grid       = { n = {16}, size = {1} },
  fields     = { { name = "u", D = 0.01 }, { name = "v", D = 0.01 } },
  solenoidal = "u",
  rates      = function(u, v, u_x, v_x) return -u * u_x, -v * v_x end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
