#!/bin/sh
# Makes the sites again: `build.sh DIRECTORY`, with a directory to work in. It needs npm, and 600 MB there for packages.
#
# What comes out is in the repository, since tests would have to install those 600 MB. Nobody reads the maps of sources, nor what only
# old browsers and other routers of Next load. Scripts and style sheets are compressed, as a server sends them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$1
export NEXT_TELEMETRY_DISABLED=1 DOCUSAURUS_NO_TELEMETRY=1 NODE_ENV=production

make_site() { # NAME OUTPUT COMMAND…
  name=$1 output=$2
  shift 2
  mkdir -p "$work/$name"
  cp -r "$here/source/$name/." "$work/$name"
  cd "$work/$name"
  npm install --ignore-scripts --no-fund --no-audit --silent
  npx "$@"
  rm -rf "${here:?}/$name"
  cp -r "$output" "$here/$name"
  cd "$here/$name"
  rm -rf .nojekyll _next/static/chunks/pages _next/static/ferries
  rm -f _next/static/chunks/polyfills-*.js _next/static/chunks/framework-*.js
  find . -name 'main-*.js' ! -name 'main-app-*' -delete
  find . -name '*.map' -delete
  find . -type d -empty -delete
  find . -type f \( -name '*.js' -o -name '*.css' \) -size +8k -exec gzip -9n {} +
}

make_site ferries out next build
make_site shipyard build docusaurus build
