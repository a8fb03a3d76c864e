#!/usr/bin/env bash
# Installs what building, running and plotting need on Debian 12, where apt may be used; says what is
# missing elsewhere. Packages already installed cost nothing.
#   scripts/install_packages.sh [PACKAGE...]   more packages, e.g. for the tests
set -euo pipefail
packages=(g++ cmake ninja-build pkg-config git ca-certificates
          ocl-icd-opencl-dev opencl-clhpp-headers opencl-c-headers pocl-opencl-icd
          libopenblas-dev liblapacke-dev libcli11-dev nlohmann-json3-dev libpng-dev zlib1g-dev libzip-dev libmatio-dev
          python3 python3-numpy python3-matplotlib "$@")
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "Install these packages first: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
command -v apt-get >/dev/null || { echo "Install these packages first: ${missing[*]}" >&2; exit 1; }
echo "Installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get -qq update
"${as_root[@]}" apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null
