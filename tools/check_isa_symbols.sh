#!/bin/sh
# Fails when a kernel file (src/backends/cpu/isa/*.cpp) defines a weak symbol: an inline function or
# a template that was compiled with wide instructions could then become the copy that the linker
# keeps for the whole program, and stop it on an older CPU. Compiled at -O0, where nothing is inlined
# away, and with g++ without sanitizers, which add weak symbols of their own.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

flags_of() {
  avx2="-mavx2 -mfma -mf16c"
  avx512="$avx2 -mavx512f -mavx512bw -mavx512vl -mavx512dq"
  case $1 in
    generic) echo "" ;;
    avx2) echo "$avx2" ;;
    avx512) echo "$avx512" ;;
    avx512vnni) echo "$avx512 -mavx512vnni" ;;
    *) echo "check_isa_symbols: no flags known for level $1" >&2; exit 1 ;;
  esac
}

case $(uname -m) in x86_64) levels=$(ls "$root"/src/backends/cpu/isa/*.cpp) ;;
  *) levels=$root/src/backends/cpu/isa/generic.cpp ;;
esac
failed=0
for source in $levels; do
  level=$(basename "$source" .cpp)
  flags=$(flags_of "$level")
  # shellcheck disable=SC2086
  "${CXX:-g++}" -std=c++20 -O0 -w $flags -I"$root/src" -c "$source" -o "$work/$level.o"
  weak=$(nm -C "$work/$level.o" | grep -E ' [WVu] ' || true)
  if [ -n "$weak" ]; then
    echo "$source defines weak symbols:"
    echo "$weak"
    failed=1
  fi
done
exit $failed
