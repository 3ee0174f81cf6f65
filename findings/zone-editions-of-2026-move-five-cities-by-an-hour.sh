#!/bin/sh
# 2026-11-28. PyPI tzdata, editions 2025.3 (2025c) to 2026.6 (2026f), asked for 5 December 2026, 21:00 wall clock.
# Guess:  an edition a year old gives the same time for every city of a million people.
# Truth:  Vancouver (since 2026b), Edmonton (2026c), Winnipeg (2026e) and Havana (2026f) stay on summer time this
#         winter, Casablanca (2026c) is at UTC+0 instead of UTC+1: a deadline there is an hour off for whoever has last
#         year's zones. The files in 2026e's wheel are of 30 September, in 2026f's of 28 October, four days before
#         the clocks changed. By hand on that day: Debian 12 had 2025b, Node 20.20.2 2025c: an hour off for all
#         five.
# Source: the tzdata packages themselves (the files of the IANA time zone database under America/ and Africa/).
# Needs:  python3 with pip. No fogpost, no root. About 10 s.
set -eu
t=$(mktemp -d); trap 'rm -rf "$t"' EXIT
export PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
export HOME="$t"
cat >"$t/ask.py" <<'E'
import datetime, sys, zoneinfo
zoneinfo.reset_tzpath([sys.argv[1] + "/zoneinfo"])
edition = open(sys.argv[1] + "/__init__.py").read().split('IANA_VERSION = "')[1].split('"')[0]
def utc(zone):
    at = datetime.datetime(2026, 12, 5, 21, tzinfo=zoneinfo.ZoneInfo(zone))
    return at.astimezone(datetime.timezone.utc).strftime("%dT%H")
print(edition, *(z.split("/")[1] + "=" + utc(z) for z in
      ("America/Vancouver", "America/Edmonton", "America/Winnipeg", "America/Havana", "Africa/Casablanca")))
E
cat >"$t/expected" <<'E'
2025c Vancouver=06T05 Edmonton=06T04 Winnipeg=06T03 Havana=06T02 Casablanca=05T20
2026a Vancouver=06T05 Edmonton=06T04 Winnipeg=06T03 Havana=06T02 Casablanca=05T20
2026b Vancouver=06T04 Edmonton=06T04 Winnipeg=06T03 Havana=06T02 Casablanca=05T20
2026c Vancouver=06T04 Edmonton=06T03 Winnipeg=06T03 Havana=06T02 Casablanca=05T21
2026d Vancouver=06T04 Edmonton=06T03 Winnipeg=06T03 Havana=06T02 Casablanca=05T21
2026e Vancouver=06T04 Edmonton=06T03 Winnipeg=06T02 Havana=06T02 Casablanca=05T21
2026f Vancouver=06T04 Edmonton=06T03 Winnipeg=06T02 Havana=06T01 Casablanca=05T21
E
for version in 2025.3 2026.1 2026.2 2026.3 2026.4 2026.5 2026.6; do
  python3 -m pip install -q --target "$t/$version" --no-deps "tzdata==$version"
  python3 "$t/ask.py" "$t/$version/tzdata"
done >"$t/seen"
cat "$t/seen"
diff "$t/expected" "$t/seen" >/dev/null || { echo "CHANGED: expected"; cat "$t/expected"; exit 1; }
