#!/bin/sh
# 2026-11-28. Readers of iCalendar: icalendar 7.3.2 (PyPI, with tzdata 2026.6), vobject 0.9.9 (PyPI), ical.js 2.2.1
# (npm), on an invitation for 5 December 2026, 21:00, TZID=America/Winnipeg, whose VTIMEZONE has the rules of 2007
# (as written by any program with an edition before 2026e).
# Guess:  the VTIMEZONE in the file decides, in each of them, whatever the reader's own zones say.
# Truth:  ical.js and vobject obey the file (03:00 UTC); icalendar looks the TZID up in its own zones and does not read
#         the VTIMEZONE at all (02:00 UTC). It does read one whose TZID it does not know: the same rules called
#         "Club Time" give 03:00 UTC. So an invitation to a player in Winnipeg is two points of time this winter, and a
#         time in UTC (DTSTART:...Z) is the only form on which all three agree.
# Source: RFC 5545 section 3.2.19: the TZID parameter names the VTIMEZONE component that must be in the same object.
# Needs:  python3 with pip, node, npm. No fogpost, no root. About 10 s.
set -eu
t=$(mktemp -d); trap 'rm -rf "$t"' EXIT
export PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
export HOME="$t" PYTHONPATH="$t/py" TZ=UTC
export PYTHONTZPATH=""    # the pinned tzdata below, not the machine's zones
python3 -m pip install -q --target "$t/py" --no-deps icalendar==7.3.2 vobject==0.9.9 python-dateutil==2.9.0.post0 \
  six==1.17.0 pytz==2026.6 tzdata==2026.6 typing_extensions==4.16.0
cd "$t"
npm install --silent --no-audit --no-fund --prefix "$t" ical.js@2.2.1 >/dev/null

invitation() {   # $1: TZID
  cat <<E | sed 's/$/\r/'
BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//example.org//club//EN
BEGIN:VTIMEZONE
TZID:$1
BEGIN:STANDARD
DTSTART:20071104T020000
RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU
TZOFFSETFROM:-0500
TZOFFSETTO:-0600
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:20070311T020000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU
TZOFFSETFROM:-0600
TZOFFSETTO:-0500
END:DAYLIGHT
END:VTIMEZONE
BEGIN:VEVENT
UID:turn3@example.org
DTSTAMP:20261128T000000Z
DTSTART;TZID=$1:20261205T210000
SUMMARY:Orders for turn 3
END:VEVENT
END:VCALENDAR
E
}
cat >read.py <<'E'
import datetime, icalendar, vobject
text = open("club.ics", newline="").read()
for who, start in (("icalendar", icalendar.Calendar.from_ical(text).walk("VEVENT")[0].start),
                   ("vobject", vobject.readOne(text).vevent.dtstart.value)):
    print(who, start.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%MZ"))
E
cat >read.mjs <<'E'
import fs from 'fs'; import ical from 'ical.js';
const calendar = new ical.Component(ical.parse(fs.readFileSync('club.ics', 'utf8')));
const start = new ical.Event(calendar.getFirstSubcomponent('vevent')).startDate;
console.log('ical.js', start.toJSDate().toISOString().slice(0, 16) + 'Z');
E
cat >expected <<'E'
TZID America/Winnipeg
icalendar 2026-12-06T02:00Z
vobject 2026-12-06T03:00Z
ical.js 2026-12-06T03:00Z
TZID Club Time
icalendar 2026-12-06T03:00Z
vobject 2026-12-06T03:00Z
ical.js 2026-12-06T03:00Z
E
for zone in America/Winnipeg "Club Time"; do
  invitation "$zone" >club.ics; echo "TZID $zone"; python3 read.py; node read.mjs
done >seen
cat seen
diff expected seen >/dev/null || { echo "CHANGED: expected"; cat expected; exit 1; }
