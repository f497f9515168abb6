-- expect: 65 fields[1].file.path: expected the name of a file, got ""
return sim.diffusion {
  grid      = { n = {16, 8}, size = {1, 1}, x = "no_flux" },
  fields    = { { name = "u", D = 1, file = { path = "" } } },
  integrate = { t_end = 1 },
}
