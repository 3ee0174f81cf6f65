#!/bin/sh
# 2026-11-28. Four readers of iCalendar: icalendar 7.3.2 and vobject 0.9.9 (PyPI), ical.js 2.2.1 and node-ical 0.26.1
# (npm), on two events from 27 March 2027 21:00 in Berlin, over the night in which clocks go forward.
# Guess:  DURATION:PT24H ends 24 hours later, at 20:00 UTC = 22:00 in Berlin, in every reader, and DURATION:P1D at
#         21:00 in Berlin = 19:00 UTC.
# Truth:  no reader tells the two apart. Three say 19:00 UTC for both (PT24H is 23 hours), node-ical 20:00 UTC for both
#         (P1D ends at 22:00). Each gets one of the two wrong. A deadline in a calendar needs DTEND (or DTSTART) as a
#         point of time, never a DURATION.
# Source: RFC 5545 section 3.3.6: weeks and days of a duration are nominal (their length depends on the calendar),
#         hours, minutes and seconds are exact; its example is a change to daylight saving time.
# Needs:  python3 with pip, npm. node 20 comes from npm (node-ical asks for it). No fogpost, no root. About 20 s.
set -eu
t=$(mktemp -d); trap 'rm -rf "$t"' EXIT
export PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
export HOME="$t" PYTHONPATH="$t/py" TZ=UTC
python3 -m pip install -q --target "$t/py" --no-deps icalendar==7.3.2 vobject==0.9.9 python-dateutil==2.9.0.post0 \
  six==1.17.0 pytz==2026.6 tzdata==2026.6 typing_extensions==4.16.0
cd "$t"
npm install --silent --no-audit --no-fund --prefix "$t" ical.js@2.2.1 node-ical@0.26.1 node@20.19.5 >/dev/null

cat >club.ics <<'E'
BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//example.org//club//EN
BEGIN:VTIMEZONE
TZID:Europe/Berlin
BEGIN:STANDARD
DTSTART:19961027T030000
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:19810329T020000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
END:DAYLIGHT
END:VTIMEZONE
BEGIN:VEVENT
UID:1@example.org
DTSTAMP:20270301T000000Z
DTSTART;TZID=Europe/Berlin:20270327T210000
DURATION:PT24H
SUMMARY:PT24H
END:VEVENT
BEGIN:VEVENT
UID:2@example.org
DTSTAMP:20270301T000000Z
DTSTART;TZID=Europe/Berlin:20270327T210000
DURATION:P1D
SUMMARY:P1D
END:VEVENT
END:VCALENDAR
E
sed -i 's/$/\r/' club.ics
cat >read.py <<'E'
import datetime, icalendar, vobject
text = open("club.ics", newline="").read()
def show(who, what, end): print(who, what, end.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%MZ"))
for e in icalendar.Calendar.from_ical(text).walk("VEVENT"): show("icalendar", e["SUMMARY"], e.end)
for e in vobject.readOne(text).vevent_list: show("vobject", e.summary.value, e.dtstart.value + e.duration.value)
E
cat >read.js <<'E'
const ical = require('ical.js'), nodeIcal = require('node-ical'), text = require('fs').readFileSync('club.ics', 'utf8');
const show = (who, what, end) => console.log(who, what, end.toISOString().slice(0, 16) + 'Z');
for (const v of new ical.Component(ical.parse(text)).getAllSubcomponents('vevent')) {
  const e = new ical.Event(v); show('ical.js', e.summary, e.endDate.toJSDate());
}
for (const e of Object.values(nodeIcal.sync.parseICS(text)).filter(e => e.type === 'VEVENT'))
  show('node-ical', e.summary, new Date(e.end));
E
cat >expected <<'E'
icalendar PT24H 2027-03-28T19:00Z
icalendar P1D 2027-03-28T19:00Z
vobject PT24H 2027-03-28T19:00Z
vobject P1D 2027-03-28T19:00Z
ical.js PT24H 2027-03-28T19:00Z
ical.js P1D 2027-03-28T19:00Z
node-ical PT24H 2027-03-28T20:00Z
node-ical P1D 2027-03-28T20:00Z
E
{ python3 read.py; node_modules/.bin/node read.js; } >seen
cat seen
diff expected seen >/dev/null || { echo "CHANGED: expected"; cat expected; exit 1; }
