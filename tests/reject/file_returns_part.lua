-- expect: 65 file_returns_part.lua:2: returns sim.plummer, expected sim.
return sim.plummer { n = 1, mass = 1, radius = 1 }
