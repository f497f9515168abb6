-- expect: 65 rates: curl_u needs solenoidal, which names a velocity
return sim.diffusion {
  grid       = { n = {8, 8}, size = {1, 1} },
  fields     = { { name = "u", D = 1, noise = 1 }, { name = "v", D = 1 } },
  rates      = function(curl_u) return curl_u, 0 end,
  integrate  = { scheme = "etdrk4", dt = 0.1, t_end = 1 },
}
