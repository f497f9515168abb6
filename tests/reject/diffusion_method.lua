-- expect: 65 diffusion_method.lua:6: integrate.method: expected one of "auto", "axes", "cufft", "slabs"
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01 } },
  rates     = function(u) return -u end,
  integrate = { scheme = "lie", dt = 0.1, t_end = 1, method = "fused" },
}
