#!/usr/bin/env bash
# web_toolchain.sh finds or makes what compiles for a browser, for platforms/web/web.sh; it prints only what it does.
#   web_toolchain.sh ROOT   a Debian 13 root with Emscripten 3.1.69 under ROOT (Debian, Ubuntu, as root; 5 minutes, 2 GB)
#   web_toolchain.sh --headers DIR   DIR/include and DIR/src from the packages of the system it runs in
set -euo pipefail

packages=(emscripten cmake ninja-build ccache brotli python3-fonttools libhwy-dev libfmt-dev nlohmann-json3-dev
  libtomlplusplus-dev libstb-dev fonts-inter fonts-jetbrains-mono fonts-dejavu-core dpkg-dev)
sources=(highway md4c)  # libraries of them are for the host
export DEBIAN_FRONTEND=noninteractive

# headers links headers alone, as /usr/include would bring the host's standard library. DIR appears once it is whole.
headers() {
  local whole="$1" dir="$1.part" name folder work
  rm -rf "$whole" "$dir"
  mkdir -p "$dir/include" "$dir/src/hwy"
  for name in hwy fmt nlohmann toml++ stb; do
    for folder in /usr/include /usr/include/*-linux-gnu; do
      if [[ -d "$folder/$name" ]]; then ln -s "$folder/$name" "$dir/include/$name"; fi
    done
    if [[ ! -e "$dir/include/$name" ]]; then
      echo "make web: no headers of $name under /usr/include" >&2
      exit 1
    fi
  done
  work="$(mktemp -d)"
  # Only the authors' archives are fetched, and checked against the package lists. What does not come is missed below.
  (cd "$work" && apt-get source --print-uris "${sources[@]}" 2>/dev/null | while read -r url name _ sum; do
    if [[ "$name" == *.orig.tar.?z* ]]; then
      /usr/lib/apt/apt-helper download-file "${url//\'/}" "$name" "$sum" >/dev/null && tar -xf "$name"
    fi
  done) || true
  if [[ ! -d $(echo "$work"/highway-*) || ! -d $(echo "$work"/md4c-*) ]]; then
    rm -rf "$work"
    echo "make web: no sources of ${sources[*]}: apt's lists need a line deb-src" >&2
    exit 1
  fi
  cp "$work"/md4c-*/src/md4c.{c,h} "$dir/src/"
  for name in targets abort; do  # older ones have no abort.cc
    if [[ -f $(echo "$work"/highway-*/hwy/$name.cc) ]]; then cp "$work"/highway-*/hwy/$name.cc "$dir/src/hwy/"; fi
  done
  rm -rf "$work"
  mv "$dir" "$whole"
}

if [[ "${1:-}" == --headers ]]; then
  headers "$2"
  exit 0
fi

root="$1"
if [[ -f "$root/normscope-stamp" ]]; then exit 0; fi
if ! command -v apt-get >/dev/null || [[ "$(id -u)" -ne 0 ]]; then
  echo "make web: needs Emscripten 3.1.58 or newer (emcc on PATH); on Debian or Ubuntu it sets up a Debian 13 root" \
    "under build/ for it, as root." >&2
  exit 1
fi
if ! command -v debootstrap >/dev/null; then
  apt-get install -y -qq --no-install-recommends debootstrap debian-archive-keyring >/dev/null 2>&1 || {
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends debootstrap debian-archive-keyring >/dev/null
  }
fi
log="$root.log"
echo "normscope: setting up Debian 13 with Emscripten under $root (5 minutes; $log)"
rm -rf "$root"
mkdir -p "$root"
{
  debootstrap --variant=minbase --keyring=/usr/share/keyrings/debian-archive-keyring.gpg trixie "$root" ${NORMSCOPE_MIRROR:+"$NORMSCOPE_MIRROR"}
  sed -n 's/^deb /deb-src /p' "$root/etc/apt/sources.list" >"$root/etc/apt/sources.list.d/sources.list"
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"  # it can be made again
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  chroot "$root" apt-get update -qq
  chroot "$root" apt-get install -y -qq --no-install-recommends "${packages[@]}"
  chroot "$root" apt-get clean
} >"$log" 2>&1 || {
  tail -5 "$log" >&2
  echo "make web: the Debian 13 root could not be set up, see $log" >&2
  exit 1
}
cp "$0" "$root/usr/local/bin/web_toolchain.sh"
chroot "$root" bash /usr/local/bin/web_toolchain.sh --headers /opt/normscope-web
touch "$root/normscope-stamp"
