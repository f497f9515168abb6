-- expect: 65 solenoidal: expected sides along y where u has slope = 0 if v has value = 0, and the other way round
return sim.diffusion {
  grid       = { n = {16, 16}, size = {1, 1}, y = "no_flux" },
  fields     = { { name = "u", D = 0.01 }, { name = "v", D = 0.01 } },
  solenoidal = "u, v",
  rates      = function(u, v, u_x, v_x) return -u * u_x, -v * v_x end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
