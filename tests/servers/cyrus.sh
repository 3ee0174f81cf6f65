#!/usr/bin/env bash
# cyrus.sh DIR: runs Cyrus until standard input ends, for tests; as root or as any ordinary user.
#
# The users referee, ann and bo have the password "secret"; they log in after STARTTLS only, but for
# the port CHECK. IMAP and LMTP set the other ports.
set -eu
dir=$1
# shellcheck source=tests/servers/unpacked.sh
. "$(dirname "$0")/unpacked.sh"
export LD_LIBRARY_PATH=$libraries SASL_PATH=$PROGRAMS/usr/lib/x86_64-linux-gnu/sasl2
bin=$PROGRAMS/usr/lib/cyrus/bin
mkdir -p "$dir"/{config,mail,run}
bash "$(dirname "$0")/certificate.sh" "$dir"
cat >"$dir/imapd.conf" <<CONF
configdirectory: $dir/config
proc_path: $dir/run/proc
mboxname_lockpath: $dir/run/lock
defaultpartition: default
partition-default: $dir/mail
cyrus_user: $(id -un "$owner")
cyrus_group: $(id -gn "$owner")
servername: localhost
altnamespace: no
unixhierarchysep: no
allowplaintext: no
tls_server_cert: $dir/tls/cert.pem
tls_server_key: $dir/tls/key.pem
autocreate_users: anyone
autocreate_quota: 0
autocreate_post: yes
lmtpsocket: $dir/run/lmtp
sasl_pwcheck_method: auxprop
sasl_auxprop_plugin: sasldb
sasl_sasldb_path: $dir/sasldb2
sasl_mech_list: PLAIN LOGIN
CONF
cat >"$dir/cyrus.conf" <<CONF
START {
}
SERVICES {
  imap cmd="$bin/imapd -C $dir/imapd.conf" listen="127.0.0.1:$IMAP" prefork=1
  check cmd="$bin/imapd -p 128 -C $dir/imapd.conf" listen="127.0.0.1:$CHECK" prefork=1
  lmtp cmd="$bin/lmtpd -a -C $dir/imapd.conf" listen="127.0.0.1:$LMTP" prefork=1
}
EVENTS {
}
CONF
for name in referee ann bo; do
  echo secret | "$PROGRAMS/usr/sbin/saslpasswd2" -p -c -f "$dir/sasldb2" -u localhost $name
done
chown -R "$owner:$group" "$dir"
until_input_ends "$bin/master" -C "$dir/imapd.conf" -M "$dir/cyrus.conf" -p "$dir/run/pid" -L "$dir/log"
