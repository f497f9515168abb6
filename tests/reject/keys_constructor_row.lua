-- expect: 65 5: probes[1]: expected a list of 3 numbers, got sim.diffusion{...}
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01 } },
  probes    = { sim.diffusion { 0.5, 0.5, 0 } },
  integrate = { t_end = 1 },
}
