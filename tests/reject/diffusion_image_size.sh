# expect: 65 dot.png: expected an image of 16 x 8 pixels, one for each cell, got 1 x 1
printf '\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\b\0\0\0\0\x3a\x7e\x9b\x55\0\0\0\0IDAT\x35\xaf\x06\x1e' >dot.png
printf '%s' 'return sim.diffusion { grid = { n = {16, 8}, size = {2, 1} },
  fields = { { name = "u", D = 0.01, file = { path = "dot.png" } } }, integrate = { t_end = 1 } }' >d.lua
exec "$SIM" run d.lua
