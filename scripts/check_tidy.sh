#!/usr/bin/env bash
# Checks src/ and cli/ with clang-tidy, as in Debian 12, by the compile commands of a build.
#   scripts/check_tidy.sh [BUILD]   default: build-dev
set -euo pipefail
build=$(realpath "${1:-$(dirname "$0")/../build-dev}")
cd "$(dirname "$0")/.."
command -v run-clang-tidy >/dev/null || { echo "clang-tidy is not installed (apt install clang-tidy)." >&2; exit 1; }
# Without the headers that gcc has compiled beforehand, which clang cannot read.
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
sed 's/ -include .*cmake_pch\.hxx//' "$build/compile_commands.json" >"$commands/compile_commands.json"
status=0
# -w: warnings of a compiler are the build's.
output=$(run-clang-tidy -quiet -extra-arg=-w -j "$(nproc)" -p "$commands" "^$PWD/(src|cli)/" 2>&1) || status=$?
grep -q '^clang-tidy' <<<"$output" || { echo "$build has no compile commands for $PWD/src: $output" >&2; exit 1; }
# The findings alone, without commands, colours and the counts of warnings in headers of the system.
[ $status -eq 0 ] || sed 's/\x1b\[[0-9;]*m//g' <<<"$output" | grep -vE '^clang-tidy|^[0-9]+ warnings? |^$' >&2
exit $status
