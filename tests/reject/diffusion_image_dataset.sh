# expect: 65 d.lua: fields[1].file: dot.png: is an image, and a dataset is of an HDF5 file
printf '\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\b\0\0\0\0\x3a\x7e\x9b\x55\0\0\0\0IDAT\x35\xaf\x06\x1e' >dot.png
printf '%s' 'return sim.diffusion { grid = { n = {1, 1}, size = {1, 1} },
  fields = { { name = "u", file = { path = "dot.png", dataset = "u" } } }, integrate = { t_end = 1 } }' >d.lua
exec "$SIM" check d.lua
