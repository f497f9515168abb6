#!/usr/bin/env bash
# viz/plot_snapshot.py draws a snapshot.
. "${BASH_SOURCE[0]%/*}/python.sh"
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
plot=${PLOT:?viz/plot_snapshot.py}
python=$(python_with h5py,matplotlib,numpy h5py==3.12.1 matplotlib==3.9.2) ||
  skip "no Python with h5py and matplotlib, and none could be installed (see $BUILD/python.log)"
scenario s.lua
expect 0 "" "$SIM" run s.lua
export MPLBACKEND=agg MPLCONFIGDIR=$scratch
expect 0 "" "$python" "$plot" s.out -o one.png
expect 0 "" "$python" "$plot" "$(find s.out/snap -name '*.h5' | sort | head -n 1)" --size 3 --pixels 64 --species stars -o two.png
for file in one.png two.png; do
  [ "$(head -c 4 "$file" | tail -c 3)" = PNG ] || fail "$file is no picture"
done
expect 1 "no snapshot" "$python" "$plot" absent.out
expect 1 "no particles" "$python" "$plot" s.out --species absent -o none.png
