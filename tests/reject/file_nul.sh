#!/usr/bin/env bash
# expect: 65 s.lua:2: a NUL byte, a scenario is plain text
printf -- '-- one\nreturn \0 1\n' >s.lua
exec "$SIM" s.lua
