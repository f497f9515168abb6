-- expect: 65 file_unclosed_string.lua:2: unfinished string
local s = "never closed
return sim.nbody {}
