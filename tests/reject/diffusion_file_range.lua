-- expect: 65 fields[1].file.range: expected two numbers that differ, got 2 twice
return sim.diffusion {
  grid      = { n = {16, 8}, size = {1, 1}, x = "no_flux" },
  fields    = { { name = "u", D = 1, file = { path = "a.png", range = {2, 2} } } },
  integrate = { t_end = 1 },
}
