#!/usr/bin/env bash
# postfix.sh DIR: runs Postfix until standard input ends, for tests; as root, or by sudo.
#
# Mail for localhost and club.test goes to the Dovecot of the same DIR. SMTP (plain, with STARTTLS and logins), SMTPS
# (implicit TLS), LMTP and AUTH (Dovecot's) set the ports. DIR must be absolute.
set -eu
if [ "$(id -u)" != 0 ]; then
  exec sudo -n env SMTP="$SMTP" SMTPS="$SMTPS" LMTP="$LMTP" AUTH="$AUTH" bash "$0" "$@"
fi
dir=$1
mkdir -p "$dir"/postfix/{etc,queue,data}
chown postfix "$dir/postfix/data"
cat >"$dir/postfix/etc/main.cf" <<CONF
compatibility_level = 3.6
config_directory = $dir/postfix/etc
queue_directory = $dir/postfix/queue
data_directory = $dir/postfix/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
inet_interfaces = loopback-only
inet_protocols = ipv4
myhostname = mx.test
mydestination =
mynetworks = 127.0.0.0/8
virtual_mailbox_domains = localhost, club.test
virtual_transport = lmtp:inet:127.0.0.1:$LMTP
default_transport = error:no outbound mail in tests
alias_maps =
recipient_delimiter = +
smtpd_recipient_restrictions = permit_mynetworks, reject
smtpd_peername_lookup = no
smtpd_error_sleep_time = 0
smtpd_tls_cert_file = $dir/tls/cert.pem
smtpd_tls_key_file = $dir/tls/key.pem
smtpd_tls_security_level = may
smtpd_sasl_auth_enable = yes
smtpd_sasl_type = dovecot
smtpd_sasl_path = inet:127.0.0.1:$AUTH
disable_dns_lookups = yes
maillog_file = $dir/postfix/postfix.log
maillog_file_prefixes = $dir/postfix
CONF
{
  echo "127.0.0.1:$SMTP inet n - n - - smtpd"
  echo "127.0.0.1:$SMTPS inet n - n - - smtpd -o smtpd_tls_wrappermode=yes"
  echo "qmgr unix n - n 300 1 qmgr"
  echo "cleanup unix n - n - 0 cleanup"
  echo "rewrite unix - - n - - trivial-rewrite"
  echo "tlsmgr unix - - n 1000? 1 tlsmgr"
  echo "postlog unix-dgram n - n - 1 postlogd"
  for service in bounce defer trace; do echo "$service unix - - n - 0 bounce"; done
  for service in error retry; do echo "$service unix - - n - - error"; done
  for service in lmtp proxymap anvil; do echo "$service unix - - n - - $service"; done
} >"$dir/postfix/etc/master.cf"
# Postfix waits until its settings are two seconds old, so make them older.
touch -d "-1 minute" "$dir"/postfix/etc/{main,master}.cf
postfix -c "$dir/postfix/etc" check
# In the shell's session, Postfix would treat a signal that ends it as a fatal error.
exec 3<&0
setsid /usr/lib/postfix/sbin/master -c "$dir/postfix/etc" -d </dev/null 3<&- &
server=$!
{ cat <&3 >/dev/null; kill -KILL $server; } 2>/dev/null &
wait $server || true
rm -rf "$dir/postfix"
