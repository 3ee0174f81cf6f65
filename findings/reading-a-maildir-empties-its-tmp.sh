#!/bin/sh
# 2026-11-30. GNU Mailutils 3.15 (Debian 12, mailutils 1:3.15-4), its `mail` on a Maildir to which a letter is being
# delivered.
# Guess:  a program that reads a Maildir leaves the files in tmp alone, or deletes those that nobody has touched for 36
#         hours.
# Truth:  opening the Maildir deletes every file in tmp, one of this second too. A delivery under way then fails at its
#         rename to new (ENOENT), and must be repeated. A count by `messages` deletes nothing. imap4d does the same as
#         `mail` at SELECT (seen by hand, not checked here).
# Source: D. J. Bernstein, maildir(5) of qmail: a file in tmp "that has not been accessed in 36 hours" may be deleted.
# Needs:  apt-get of Debian 12 with its package lists, dpkg. No fogpost, no root; nothing is installed. About 5 s.
set -eu
t=$(mktemp -d); trap 'rm -rf "$t"' EXIT
cd "$t"
apt-get download -q -o APT::Sandbox::User=root mailutils=1:3.15-4 libmailutils9=1:3.15-4 libgsasl18 libntlm0 \
  libgssglue1 libgc1 guile-3.0-libs libltdl7 libmariadb3 libidn12 libtokyocabinet9 libfribidi0 >/dev/null 2>&1
for package in *.deb; do dpkg -x "$package" root; done
lib=$t/root/usr/lib/x86_64-linux-gnu:$t/root/lib/x86_64-linux-gnu
run() { program=$1; shift; LD_LIBRARY_PATH=$lib HOME=$t MAILRC=/dev/null "$t/root/usr/bin/$program" "$@"; }

mkdir -p box/new box/cur box/tmp
printf 'From: ann@example.org\nSubject: one\n\nhello\n' >box/new/1.a.host
printf 'From: bo@example.org\nSubject: two\n\nhalf of' >box/tmp/2.b.host
run mail.mailutils --version | head -1
{
  run messages.mailutils --no-config "maildir:$t/box" >/dev/null
  echo "counted: $(ls box/tmp)"
  echo quit | run mail.mailutils --no-config -f "maildir:$t/box" >/dev/null
  echo "read: $(ls box/tmp)"
  mv box/tmp/2.b.host box/new/2.b.host 2>/dev/null && echo "delivered" || echo "the delivery fails"
} >seen
cat seen
cat >expected <<'E'
counted: 2.b.host
read: 
the delivery fails
E
diff expected seen >/dev/null || { echo "CHANGED: expected"; cat expected; exit 1; }
