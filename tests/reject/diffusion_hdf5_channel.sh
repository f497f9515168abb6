# expect: 65 d.lua: fields[1].file: u.h5: is an HDF5 file, and a channel is of an image
printf '\x89HDF\r\n\x1a\n' >u.h5
printf '%s' 'return sim.diffusion { grid = { n = {1, 1}, size = {1, 1} },
  fields = { { name = "u", file = { path = "u.h5", channel = "grey" } } }, integrate = { t_end = 1 } }' >d.lua
exec "$SIM" check d.lua
