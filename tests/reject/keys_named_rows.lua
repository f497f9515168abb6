-- expect: 65 5: probes: expected a list of lists of numbers, got a table
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01 } },
  probes    = { centre = { 0.5, 0.5, 0 } },
  integrate = { t_end = 1 },
}
