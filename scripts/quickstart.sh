#!/usr/bin/env bash
# From a fresh Debian 12 to solved systems and a small benchmark on the CPU, through PoCL: installs,
# builds Release into build/, solves two example matrices, runs a sweep of about a minute, makes a page
# and pictures of it.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install_packages.sh

echo "== Building: about five minutes on two cores"
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DLUGPU_TESTS=OFF >/dev/null
if [ -t 1 ]; then cmake --build build; else cmake --build build | tail -n 1; fi  # progress on a terminal

run() { printf '\n$ %s\n' "$*"; "$@"; }
echo "== Devices"
run build/lugpu devices
echo "== Two systems: a model of DNA electrophoresis, and a chemical plant"
run build/lugpu solve tests/data/good/cage5.mtx
run build/lugpu solve tests/data/good/west0067.mtx -o build/x.npy
echo "== A benchmark of about a minute"
run build/lugpu bench --json build/bench.json --force
run build/lugpu report build/bench.json -o build/bench.html
run scripts/plot.py build/bench.json -o build
echo "== Open build/bench.html in a browser; build/lugpu --help says what else there is"
