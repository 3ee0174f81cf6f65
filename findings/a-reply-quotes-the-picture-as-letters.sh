#!/bin/sh
# 2026-11-30. nmh 1.8~RC2-2 (repl with its mhl.reply), bsd-mailx 8.1.2-0.20220412cvs-1 (reply, then ~m) and mblaze 1.1-1
# (mquote) of Debian 12, each on one letter of a text and a picture.
# Guess:  a program that quotes a letter in a reply quotes its text, decoded, and leaves the picture out.
# Truth:  mblaze does. nmh and bsd-mailx quote the source of the letter: boundaries, fields of the parts, =C3=A9 for é,
#         and the picture's base64, line by line. bsd-mailx also quotes the whole header, and marks a quote by a tab, not
#         by ">". So a line of a reply may be a piece of any picture, and a quote may differ from the text that was sent.
# Source: nmh(7) and mhl(1), mail(1): none says that a quote is decoded, and nmh ships contrib/replyfilter for that.
# Needs:  apt-get of Debian 12 with its package lists, dpkg. No fogpost, no root; nothing is installed. About 5 s.
set -eu
t=$(mktemp -d); trap 'rm -rf "$t"' EXIT
cd "$t"
apt-get download -q -o APT::Sandbox::User=root nmh=1.8~RC2-2 bsd-mailx=8.1.2-0.20220412cvs-1 mblaze=1.1-1 liblockfile1 \
  >/dev/null 2>&1
for package in *.deb; do dpkg -x "$package" root; done
export HOME="$t" LD_LIBRARY_PATH="$t/root/usr/lib/x86_64-linux-gnu" MAILRC=/dev/null

mkdir -p Mail/inbox
printf 'Path: Mail\nmhlproc: %s\n' "$t/root/usr/lib/mh/mhl" >.mh_profile
cat >Mail/inbox/1 <<'L'
From: Bo <bo@example.org>
To: ann@example.org
Subject: your move
Date: Mon, 30 Nov 2026 12:00:00 +0000
Message-ID: <one@example.org>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b1"

--b1
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

A caf=C3=A9 in D4.
--b1
Content-Type: image/png; name="board.png"
Content-Transfer-Encoding: base64

iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YA
AAAASUVORK5CYII=
--b1--
L
{ echo 'From bo@example.org Mon Nov 30 12:00:00 2026'; cat Mail/inbox/1; echo; } >box
# How each program quotes the text and the last line of the picture, and how many lines name a part's type.
tell() { # PROGRAM, the quote on standard input
  cat >quote
  grep -a -E 'D4|^.{0,2}AAAASUVORK5CYII' quote | sed "s/^/$1 quotes: /" | tr '\t' '_'
  echo "$1: $(grep -a -c 'Content-Type: image/png' quote || true) picture"
}
{
  etc=$t/root/etc/nmh
  root/usr/bin/mh/repl -filter "$etc/mhl.reply" -form "$etc/replcomps" -build 1 2>/dev/null || true
  tell nmh <Mail/reply
  printf 'reply 1\n~m\n~p\n~q\nx\n' | root/usr/bin/bsd-mailx -f "$t/box" -I 2>/dev/null | tell bsd-mailx
  PATH=$t/root/usr/bin:$PATH mquote ./Mail/inbox/1 | tell mblaze
} >seen
cat seen
cat >expected <<'E'
nmh quotes: > A caf=C3=A9 in D4.
nmh quotes: > AAAASUVORK5CYII=
nmh: 1 picture
bsd-mailx quotes: _A caf=C3=A9 in D4.
bsd-mailx quotes: _AAAASUVORK5CYII=
bsd-mailx: 1 picture
mblaze quotes: > A café in D4.
mblaze: 0 picture
E
diff expected seen >/dev/null || { echo "CHANGED: expected"; cat expected; exit 1; }
