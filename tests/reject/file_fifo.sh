#!/usr/bin/env bash
# expect: 66 s.lua: is a pipe, not a scenario file
mkfifo s.lua
exec "$SIM" s.lua
