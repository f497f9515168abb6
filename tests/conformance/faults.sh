#!/usr/bin/env bash
# Each check of the suite detects the fault planted for it (faulty.c), and reports nothing where there is none.
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
: "${DESCRIPTOR:?the program faulty_descriptor}"
suite=$(cd -- "${BASH_SOURCE[0]%/*}" && pwd)

expect 0 "" bash "$suite/conformance.sh" template
expect 0 "" "$DESCRIPTOR" template

# sees FAULT CHECK TEXT: that check fails with this fault, with TEXT.
sees() { FAULT=$1 expect 1 "$3" bash "$suite/conformance.sh" template "$2"; }
sees example example "integrate: "
sees outputs outputs "outputs change the state"
sees state restart "restart at step 7 of 16: digest"
sees tables restart "restart at step 7 of 16: tables differ"
sees threads threads "2 threads: digest"
sees ranks ranks "2 ranks: "
sees precision precision "precision double has the bits of single"
sees reseal reseal "a resealed checkpoint, mutation"

# A second device that is the CPU with a fault: so the check of devices is tested where there is no GPU too.
cat >device <<'SH'
#!/usr/bin/env bash
words=() fault=
for word; do
  if [ "$word" = cuda ]; then word=cpu fault=$PLANTED; fi
  words+=("$word")
done
FAULT=$fault "$REAL" "${words[@]}" | sed 's/\[cpu\]$/[cuda, cpu]/'
exit "${PIPESTATUS[0]}"
SH
chmod +x device
PLANTED='' REAL=$SIM SIM=$scratch/device expect 0 "" bash "$suite/conformance.sh" template device
PLANTED=state REAL=$SIM SIM=$scratch/device expect 1 "CPU and GPU: states" bash "$suite/conformance.sh" template device
PLANTED=tables REAL=$SIM SIM=$scratch/device expect 1 "CPU and GPU: tables" bash "$suite/conformance.sh" template device
for fault in encode memory; do
  FAULT=$fault expect 1 "FAILED: $fault: " "$DESCRIPTOR" template
done
