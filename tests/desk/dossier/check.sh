#!/usr/bin/env bash
# Checks an unpacked dossier as its CHECK.txt tells a third person to: check.sh FOLDER
#
# Runs the commands of CHECK.txt unchanged, with bash, sha256sum, jq and the usual Unix tools. Those of steps 3 and 6
# print something to compare by eye and are skipped here; any output of the others is a fault.
set -euo pipefail
cd "$1"
pieces=$(awk '/^[0-9]+\. /{n = $1 + 0} /^       /{if (n != 3 && n != 6) print substr($0, 8)}' CHECK.txt)
[ "$(printf '%s\n' "$pieces" | wc -l)" -gt 25 ] || { echo "CHECK.txt contains no commands"; exit 2; }
said=$(env -i PATH=/usr/bin:/bin bash -c "$pieces" 2>&1) || true
[ -z "$said" ] || { printf '%s\n' "$said"; exit 1; }
