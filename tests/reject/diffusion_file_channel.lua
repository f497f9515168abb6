-- expect: 65 fields[1].file.channel: expected one of "auto", "grey", "red", "green", "blue", "alpha", got the string "cyan"
return sim.diffusion {
  grid      = { n = {16, 8}, size = {1, 1}, x = "no_flux" },
  fields    = { { name = "u", D = 1, file = { path = "a.png", channel = "cyan" } } },
  integrate = { t_end = 1 },
}
