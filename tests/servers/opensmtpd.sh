#!/usr/bin/env bash
# opensmtpd.sh DIR: runs OpenSMTPD until standard input ends, for tests; as root, or by sudo.
#
# Mail to referee, gm, ann and bo at club.test, also with +any behind the name, goes to a Maildir in DIR/root/mail. It
# rejects other names there, and relays mail for any other domain to the server at port NEXT. SMTP sets its own port.
set -eu
if [ "$(id -u)" != 0 ]; then
  exec sudo -n env PROGRAMS="$PROGRAMS" SMTP="$SMTP" NEXT="$NEXT" bash "$0" "$@"
fi
dir=$1
# shellcheck source=tests/servers/unpacked.sh
. "$(dirname "$0")/unpacked.sh"
furnish /usr/sbin/smtpd /usr/libexec/opensmtpd/mail.maildir /bin/sh
mkdir -p "$root"/var/{lib/opensmtpd/empty,spool/smtpd,run}
chmod 711 "$root/var/spool/smtpd"
user root 0 /
user opensmtpd 101 /var/lib/opensmtpd/empty
user opensmtpq 102 /var/lib/opensmtpd/empty
for name in referee gm ann bo; do user $name "$owner" /mail "$group"; done
echo mx.test >"$root/etc/mailname"
touch "$root/etc/resolv.conf"
cat >"$root/etc/smtpd.conf" <<CONF
listen on 127.0.0.1 port $SMTP hostname mx.test
action people maildir "/mail/%{dest.user:lowercase|strip}"
action onward relay host "smtp://127.0.0.1:$NEXT"
match from any for domain "club.test" action people
match from any for any action onward
CONF
until_input_ends chroot "$root" /usr/sbin/smtpd -d
