#!/usr/bin/env bash
# A rank's GPU is lost: the n-th call of the CUDA runtime fails on rank 1, while kernels or the host of the others wait
# for it. All ranks end within 35 s with one exit code, and one line names the rank. Saved files are good.
. "${BASH_SOURCE[0]%/*}/ranks_lib.sh"
gpus=$("$SIM" info | grep -c '^cuda .* GiB free' || true)
paths=(peer staged)
((gpus < 2)) || paths+=(nccl) # which takes no GPU twice
run=(bodies.lua --set n=6000 --set steps=60 --set every=10)
expect 0 "" "$SIM" run "${run[@]}" -o whole --device cuda
failed=0
for path in "${paths[@]}"; do
  for n in 3 40 90 150 260; do
    rm -rf injected run
    code=0 begin=$SECONDS
    SIM_COMM_PATH=$path SIM_INJECT=$n SIM_INJECT_RANK=1 timeout -k 5 60 "$SIM" run "${run[@]}" -o run --gpus 2 \
      --oversubscribe --no-progress >output 2>&1 || code=$?
    what="$path: call $n of rank 1, $(cat injected 2>/dev/null || echo none)"
    ((SECONDS - begin < 35)) || fail "$what: took $((SECONDS - begin)) s"
    case $code in
      0)
        same whole run "$what"
        [ ! -e injected ] || [ "$(cat injected)" = cudaGetLastError ] || fail "$what: failed and nobody saw it"
        ;;
      69 | 81)
        failed=$((failed + 1))
        [ "$(grep -c '^sim: rank 1 on .*: ' output)" = 1 ] || fail "$what: the rank is not told in one line"
        [ ! -e run/.lock ] || grep -q ", ended " run/.lock || fail "$what: a lock is left"
        ;;
      *) fail "exit $code: $what" ;;
    esac
    if ((code == 81)) && [ -n "$(checkpoints run)" ]; then
      expect 0 "" "$SIM" resume run --gpus 2 --oversubscribe
      same whole run "resumed after $what"
    fi
  done
done
((failed >= ${#paths[@]})) || fail "only $failed runs failed"
echo "$failed failed as they should"
