#!/usr/bin/env bash
# Checks that clang-format, as in Debian 12, would leave the C++ files and the kernels as they are.
#   scripts/check_format.sh [--fix]   --fix formats them
set -euo pipefail
cd "$(dirname "$0")/.."
command -v clang-format >/dev/null || { echo "clang-format is not installed (apt install clang-format)." >&2; exit 1; }
mode=(--dry-run --Werror)
[ "${1:-}" != --fix ] || mode=(-i)
folders=()
for folder in include src cli kernels python tests examples scripts; do
  [ ! -d "$folder" ] || folders+=("$folder")
done
find "${folders[@]}" \( -name '*.[ch]pp' -o -name '*.cl' -o -name '*.clh' \) -print0 |
  xargs -0 clang-format "${mode[@]}"
