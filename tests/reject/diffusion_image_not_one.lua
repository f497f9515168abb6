-- expect: 65 diffusion_image_not_one.lua: is neither a PNG image nor an HDF5 file
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, file = { path = "diffusion_image_not_one.lua" } } },
  integrate = { t_end = 1 },
}
