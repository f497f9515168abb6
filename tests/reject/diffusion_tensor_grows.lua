-- expect: 65 fields[1].tensor: {0.09, 0.09, -0.09} and D make a tensor with a negative eigenvalue: modes would grow
return sim.diffusion {
  grid      = { n = {8, 8, 8}, size = {1, 1, 1} },
  fields    = { { name = "u", D = 0.1, tensor = {0.09, 0.09, -0.09}, noise = 1 } }, -- each pair alone would do
  integrate = { t_end = 1 },
}
