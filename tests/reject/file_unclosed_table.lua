-- expect: 65 file_unclosed_table.lua:4: unexpected symbol near <eof>
return sim.nbody {
  bodies = {
