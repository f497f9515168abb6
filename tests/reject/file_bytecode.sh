#!/usr/bin/env bash
# expect: 65 s.lua: is compiled Lua (bytecode), a scenario is plain text
printf '\x1bLua\x54\x00\x19\x93\r\n\x1a\n' >s.lua
exec "$SIM" s.lua
