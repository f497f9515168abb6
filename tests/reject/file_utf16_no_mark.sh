#!/usr/bin/env bash
# expect: 65 s.lua:1: a NUL byte, a scenario is plain text
printf 'r\0e\0t\0u\0r\0n\0' >s.lua
exec "$SIM" s.lua
