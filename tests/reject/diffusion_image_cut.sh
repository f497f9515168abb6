# expect: 65 dot.png: not a PNG image that can be read: it ends too early
printf '\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\b\0\0\0\0\x3a\x7e\x9b\x55\0\0' >dot.png
printf '%s' 'return sim.diffusion { grid = { n = {1, 1}, size = {1, 1} },
  fields = { { name = "u", D = 0.01, file = { path = "dot.png" } } }, integrate = { t_end = 1 } }' >d.lua
exec "$SIM" run d.lua
