-- expect: 66 diffusion_file_missing.lua: fields[1].file: none.h5: No such file or directory
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, file = { path = "none.h5", dataset = "/u" } } },
  integrate = { t_end = 1 },
}
