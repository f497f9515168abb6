-- expect: 65 file_unclosed_comment.lua:4: unfinished long comment
--[[ never closed
return sim.nbody {}
