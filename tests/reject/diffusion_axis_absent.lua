-- expect: 65 diffusion_axis_absent.lua:4: grid.z: the grid has no axis z: grid.n has 2 numbers
-- lines: 5
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1}, x = "fixed", z = "no_flux" },
  fields    = { { name = "u", D = 0.01,
                  axes = {1, 1, 2}, drift = {0, 0, 1},
                  tensor = {0, 0.001, 0} } },
  integrate = { t_end = 1 },
  probes    = { {0.5, 0.5, 0.5} },
}
