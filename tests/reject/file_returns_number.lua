-- expect: 65 file_returns_number.lua:2: returns a number, expected sim.
return 42
