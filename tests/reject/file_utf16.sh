#!/usr/bin/env bash
# expect: 65 s.lua: is UTF-16 text, save it as UTF-8
printf '\xff\xfer\0e\0t\0u\0r\0n\0' >s.lua
exec "$SIM" s.lua
