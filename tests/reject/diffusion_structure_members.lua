-- expect: 65 members: expected 1, because there is structure
return sim.diffusion {
  members    = 2,
  grid       = { n = {16, 16}, size = {1, 1} },
  solenoidal = "u, v",
  fields     = { { name = "u", D = 0.01, noise = 1 }, { name = "v", D = 0.01, noise = 1 } },
  rates      = function(u, v) return -u, -v end,
  structure  = { order = 3, separations = 3 },
  integrate  = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
