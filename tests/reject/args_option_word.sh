#!/usr/bin/env bash
# expect: 64 unknown command 'version': the option is --version; a scenario file is given as ./version
exec "$SIM" version
