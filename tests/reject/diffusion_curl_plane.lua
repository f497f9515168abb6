-- expect: 65 output.fields: expected names among vorticity, pressure, with commas between them, got "curl_u"
return sim.diffusion {
  grid       = { n = {8, 8}, size = {1, 1} },
  fields     = { { name = "u", D = 1, noise = 1 }, { name = "v", D = 1 } },
  solenoidal = "u, v",
  rates      = function(u, v) return v, u end,
  integrate  = { scheme = "etdrk4", dt = 0.1, t_end = 1 },
  output     = { fields = "curl_u" },
}
