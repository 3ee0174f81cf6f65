#!/usr/bin/env bash
# exim.sh DIR: runs Exim until standard input ends, for tests; as root, or by sudo.
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
furnish /usr/sbin/exim4
mkdir -p "$root"/{etc/exim4,var/spool/exim4}
user root 0 /
user Debian-exim "$owner" /mail "$group"
chown "$owner:$group" "$root/var/spool/exim4"
cat >"$root/etc/exim4/exim4.conf" <<CONF
deliver_drop_privilege = true
log_file_path = /var/spool/exim4/%slog
pid_file_path = /var/spool/exim4/pid
primary_hostname = mx.test
qualify_domain = club.test
domainlist ours = club.test
daemon_smtp_ports = $SMTP
local_interfaces = 127.0.0.1
tls_advertise_hosts =
acl_smtp_rcpt = rcpt
host_lookup =
rfc1413_query_timeout = 0s
keep_environment =
begin acl
rcpt:
  accept domains = +ours
    endpass
    verify = recipient
  accept
begin routers
people:
  driver = accept
  domains = +ours
  local_parts = referee : gm : ann : bo
  local_part_suffix = +*
  local_part_suffix_optional
  transport = maildir
relay:
  driver = manualroute
  domains = ! +ours
  route_list = * 127.0.0.1::$NEXT byname
  self = send
  transport = onward
begin transports
maildir:
  driver = appendfile
  directory = /mail/\$local_part_data
  maildir_format
  create_directory
  delivery_date_add
  envelope_to_add
  return_path_add
  user = Debian-exim
onward:
  driver = smtp
begin retry
* * F,1h,1m
CONF
until_input_ends chroot "$root" /usr/sbin/exim4 -bdf -q1m
