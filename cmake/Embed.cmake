# Run when one of FILES (paths below ROOT) changes: writes OUTPUT, a C source with their text as SYMBOL.
set(arrays "")
set(entries "")
set(number 0)
string(REPLACE "," ";" files "${FILES}")
foreach(file IN LISTS files)
  file(READ ${ROOT}/${file} bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "static const char file${number}[] = {\n${bytes}0};\n")
  string(APPEND entries "    {\"${file}\", file${number}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "/* Made by cmake/Embed.cmake. */
#include \"engine/device/compile.h\"

extern const sim_source_file ${SYMBOL}[];
${arrays}
const sim_source_file ${SYMBOL}[] = {
${entries}    {0},
};
")
