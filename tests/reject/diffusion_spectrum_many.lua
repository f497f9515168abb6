-- expect: 65 spectrum: expected an integer in [0, 800], got 801
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 1 } },
  spectrum  = 801,
  integrate = { dt = 0.1, t_end = 1 },
}
