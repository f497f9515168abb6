#!/usr/bin/env bash
# expect: 66 /dev/zero: is a device, not a scenario file
exec "$SIM" /dev/zero -o s.out
