# expect: 65 d.lua: fields[2].file: u.h5: an HDF5 file that is damaged or cut short
{ printf '%512s' '' && printf '\x89HDF\r\n\x1a\n'; } >u.h5 # behind a user block
printf '%s' 'return sim.diffusion { grid = { n = {1, 1}, size = {1, 1} },
  fields = { { name = "u" }, { name = "v", file = { path = "u.h5" } } }, integrate = { t_end = 1 } }' >d.lua
exec "$SIM" check d.lua
