#!/usr/bin/env bash
# imap4d.sh DIR: runs the IMAP server of GNU Mailutils until standard input ends, for tests; as root, or by sudo.
#
# The users referee, ann and bo have the password "secret", an mbox file DIR/home/NAME/INBOX, and their other folders
# beside it. IMAP sets the port.
set -eu
if [ "$(id -u)" != 0 ]; then
  exec sudo -n env PROGRAMS="$PROGRAMS" IMAP="$IMAP" bash "$0" "$@"
fi
dir=$1
# shellcheck source=tests/servers/unpacked.sh
. "$(dirname "$0")/unpacked.sh"
export LD_LIBRARY_PATH=$libraries
mkdir -p "$dir/users"
password=$(openssl passwd -1 secret)
for name in referee ann bo; do
  mkdir -p "$dir/home/$name"
  touch "$dir/home/$name/INBOX"
  echo "$name:$password:$owner:$group:$name:$dir/home/$name:/bin/sh" >>"$dir/users/club.test"
done
chown -R "$owner:$group" "$dir/home"
cat >"$dir/imap4d.conf" <<CONF
logging { syslog no; }
mode daemon;
foreground yes;
login-disabled no;
auth { authentication clear; authentication virtdomain:generic; authorization clear; authorization virtdomain; }
virtdomain { passwd-dir $dir/users; }
server 127.0.0.1:$IMAP { }
CONF
until_input_ends "$PROGRAMS/usr/sbin/imap4d" --config-file="$dir/imap4d.conf"
