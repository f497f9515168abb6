-- expect: 65 diffusion_dealias_walls.lua:6: integrate.dealias: cuts all wavenumbers along y
return sim.diffusion {
  grid      = { n = {16, 2}, size = {1, 1}, y = "fixed" },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  rates     = function(u) return -u^3 end,
  integrate = { scheme = "etd1", dt = 0.1, t_end = 1, dealias = 1/2 },
}
