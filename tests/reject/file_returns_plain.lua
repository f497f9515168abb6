-- expect: 65 file_returns_plain.lua:2: returns a plain table, expected sim.
return { bodies = {} }
