#!/usr/bin/env bash
# courier.sh DIR: runs Courier's IMAP server until standard input ends, for tests; as root, or by sudo.
#
# The users referee, ann and bo have the password "secret", and a Maildir in DIR/root/mail. IMAP sets the port.
set -eu
if [ "$(id -u)" != 0 ]; then
  exec sudo -n env PROGRAMS="$PROGRAMS" IMAP="$IMAP" bash "$0" "$@"
fi
dir=$1
# shellcheck source=tests/servers/unpacked.sh
. "$(dirname "$0")/unpacked.sh"
auth=/usr/lib/courier/courier-authlib
furnish /usr/sbin/couriertcpd /usr/lib/courier/courier/imaplogin /usr/bin/imapd /usr/libexec/gam_server $auth/authdaemond \
  $auth/makedatprog /usr/lib/courier-authlib/libauthuserdb.so.0
mkdir -p "$root"/{etc/courier,run/courier/authdaemon}
user root 0 /
user mail "$owner" /mail "$group"
cat >"$root/etc/courier/authdaemonrc" <<'CONF'
authmodulelist="authuserdb"
authmodulelistorig="authuserdb"
daemons=2
authdaemonvar=/run/courier/authdaemon
DEFAULTOPTIONS=""
CONF
password=$(openssl passwd -1 secret)
for name in referee ann bo; do
  mkdir -p "$root/mail/$name/Maildir"/{cur,new,tmp}
  echo "$name	uid=$owner|gid=$group|home=/mail/$name|mail=/mail/$name/Maildir|_=" >>"$dir/users"
  echo "$name	systempw=$password|imappw=$password" >>"$dir/passwords"
done
chown -R "$owner:$group" "$root/mail"
echo . | cat "$dir/users" - | chroot "$root" $auth/makedatprog - /etc/courier/new /etc/courier/userdb.dat
echo . | cat "$dir/passwords" - | chroot "$root" $auth/makedatprog - /etc/courier/new /etc/courier/userdbshadow.dat
# As the package installs it, but for the login before TLS.
export IMAP_CAPABILITY="IMAP4rev1 UIDPLUS CHILDREN NAMESPACE THREAD=ORDEREDSUBJECT THREAD=REFERENCES SORT QUOTA IDLE"
export IMAP_ACL=1 IMAP_KEYWORDS=1 IMAP_IDLE_TIMEOUT=60 IMAP_MAILBOX_SANITY_CHECK=1 IMAP_USELOCKS=1 IMAP_ENHANCEDIDLE=0
export IMAP_TRASHFOLDERNAME=Trash IMAP_EMPTYTRASH=Trash:7
run() {
  chroot "$root" $auth/authdaemond &
  exec chroot "$root" /usr/sbin/couriertcpd -address=127.0.0.1 -maxprocs=40 -maxperip=20 -nodnslookup -noidentlookup \
    "$IMAP" /usr/lib/courier/courier/imaplogin /usr/bin/imapd Maildir
}
until_input_ends run
