-- expect: 65 diffusion_key_elsewhere.lua:5: fields[1].boundary: unknown key, it belongs into grid
-- lines: 4
return sim.diffusion {
  grid      = { n = {16}, size = {1}, members = 2 },
  fields    = { { name = "u", boundary = "fixed" } },
  dt        = 0.1,
  D         = 1,
  integrate = { t_end = 1 },
}
