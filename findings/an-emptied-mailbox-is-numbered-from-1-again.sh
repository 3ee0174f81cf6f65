#!/bin/sh
# 2026-11-30. GNU Mailutils 3.15 (Debian 12, mailutils-imap4d 1:3.15-4), its imap4d on an mbox file.
# Guess:  an emptied INBOX goes on with its numbers, or has a new UIDVALIDITY before it begins again; EXPUNGE is answered
#         by "* 1 EXPUNGE".
# Truth:  once the INBOX is empty and selected again, UIDNEXT is 1, and within the same second UIDVALIDITY is the same (it
#         is the time, in seconds). The next letter has the UID of one that was just deleted: who remembers UIDs takes it
#         for that letter. The untagged answer is "* 1 EXPUNGED", which is no answer of IMAP, so a client that counts
#         letters miscounts.
# Source: RFC 3501, 2.3.1.1 ("MUST NOT refer to any other message in the mailbox or any subsequent mailbox with the same
#         name forever" for UID and UIDVALIDITY together) and 7.4.1 (EXPUNGE).
# Needs:  apt-get of Debian 12 with its package lists, dpkg, openssl. No fogpost, no root; nothing is installed. About 5 s.
set -eu
t=$(mktemp -d); trap 'rm -rf "$t"' EXIT
cd "$t"
apt-get download -q -o APT::Sandbox::User=root mailutils-imap4d=1:3.15-4 libmailutils9=1:3.15-4 libgsasl18 libntlm0 \
  libgssglue1 libgc1 guile-3.0-libs libltdl7 libmariadb3 libidn12 libtokyocabinet9 libfribidi0 libwrap0 \
  >/dev/null 2>&1
for package in *.deb; do dpkg -x "$package" root; done
export LD_LIBRARY_PATH="$t/root/usr/lib/x86_64-linux-gnu:$t/root/lib/x86_64-linux-gnu"

mkdir home users
echo "ann:$(openssl passwd -1 secret):$(id -u):$(id -g):ann:$t/home:/bin/sh" >users/club.test
cat >imap4d.conf <<C
logging { syslog no; }
login-disabled no;
auth { authentication clear; authentication virtdomain:generic; authorization clear; authorization virtdomain; }
virtdomain { passwd-dir $t/users; }
C
letter() { printf 'From: bo@example.org\nSubject: %s\nMessage-ID: <%s@example.org>\n\nhello\n' "$1" "$1"; }
say() { printf '%s\r\n' "$1"; }
# The INBOX twice, as the session saw it: UIDVALIDITY, then the letter's UID and subject.
session() {
  { echo 'From bo@example.org Mon Nov 30 12:00:00 2026'; letter one; echo; } >home/INBOX
  {
    say 'a LOGIN ann@club.test secret'
    say 'b SELECT INBOX'
    say 'c UID FETCH 1:* (ENVELOPE)'
    say 'd STORE 1 +FLAGS.SILENT (\Deleted)'
    say 'e EXPUNGE'
    say 'f SELECT INBOX'
    say "g APPEND INBOX {$(letter two | sed 's/$/\r/' | wc -c)}"
    letter two | sed 's/$/\r/'
    say ''
    say 'h SELECT INBOX'
    say 'i UID FETCH 1:* (ENVELOPE)'
    say 'j LOGOUT'
  } | root/usr/sbin/imap4d --config-file=imap4d.conf --inetd 2>/dev/null | tr -d '\r' >log
}
root/usr/sbin/imap4d --version | head -1
# A session that runs over the end of a second is tried again.
for _ in 1 2 3 4 5; do
  session
  [ "$(grep -o 'UIDVALIDITY [0-9]*' log | sort -u | wc -l)" = 1 ] && break
done
grep -o 'UIDVALIDITY [0-9]*' log | sort -u | wc -l | sed 's/^/values of UIDVALIDITY: /' >seen
sed -n -e 's/.*\(UIDNEXT [0-9]*\).*/\1/p' -e '/EXPUNGE/p' -e 's/.*(UID \([0-9]*\) ENVELOPE (NIL "\([a-z]*\)".*/UID \1 is \2/p' log |
  grep -v '^e OK' >>seen
cat seen
cat >expected <<'E'
values of UIDVALIDITY: 1
UIDNEXT 2
UID 1 is one
* 1 EXPUNGED
UIDNEXT 1
UIDNEXT 2
UID 1 is two
E
diff expected seen >/dev/null || { echo "CHANGED: expected"; cat expected; exit 1; }
