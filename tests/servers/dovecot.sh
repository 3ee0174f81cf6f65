#!/usr/bin/env bash
# dovecot.sh DIR: runs Dovecot until standard input ends, for tests; as root or as any ordinary user.
#
# Every user name is valid, with the password "secret". DIR must be short, because the length of a socket's path is
# limited, and accessible to the user "mail". IMAP, IMAPS, LMTP and AUTH (for Postfix's logins) set the ports.
set -eu
umask 022
dir=$1
login=$(id -un) internal=$(id -un) group=$(id -gn) mail=$(id -un) mailgroup=$(id -gn)
if [ "$(id -u)" = 0 ]; then
  login=dovenull internal=dovecot group=dovecot mail=mail mailgroup=mail
fi
mkdir -p "$dir"/{run,state,mail}
bash "$(dirname "$0")/certificate.sh" "$dir"
[ -f "$dir/tokens" ] || touch "$dir/tokens"
if [ "$(id -u)" = 0 ]; then chown mail:mail "$dir/mail"; fi
# The empty "chroot" lines let it run without privileges. No delay and no penalty: it rejects a wrong password at once.
cat >"$dir/dovecot.conf" <<CONF
base_dir = $dir/run
state_dir = $dir/state
protocols = imap lmtp
listen = 127.0.0.1
log_path = $dir/dovecot.log
ssl = yes
ssl_cert = <$dir/tls/cert.pem
ssl_key = <$dir/tls/key.pem
disable_plaintext_auth = no
auth_failure_delay = 0
auth_mechanisms = plain login xoauth2 oauthbearer
default_internal_user = $internal
default_internal_group = $group
default_login_user = $login
first_valid_uid = 1
mail_location = maildir:%h/Maildir
mail_fsync = never
mail_max_userip_connections = 50
recipient_delimiter = +
# Access tokens, as the tests list them.
passdb {
  driver = passwd-file
  args = $dir/tokens
  mechanisms = xoauth2 oauthbearer
}
passdb {
  driver = static
  args = password=secret
  mechanisms = plain login
}
userdb {
  driver = static
  args = uid=$mail gid=$mailgroup home=$dir/mail/%n allow_all_users=yes
}
namespace inbox {
  inbox = yes
  separator = /
}
service imap-login {
  chroot =
  service_count = 0
  process_min_avail = 1
  inet_listener imap {
    port = $IMAP
  }
  inet_listener imaps {
    port = $IMAPS
    ssl = yes
  }
}
service lmtp {
  process_min_avail = 2
  inet_listener lmtp {
    port = $LMTP
  }
}
service auth {
  inet_listener {
    address = 127.0.0.1
    port = $AUTH
  }
}
service anvil {
  chroot =
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service stats {
  chroot =
}
CONF
exec 3<&0
/usr/sbin/dovecot -F -c "$dir/dovecot.conf" </dev/null 3<&- &
server=$!
# SIGKILL, because an orderly shutdown takes a second.
{ cat <&3 >/dev/null; kill -KILL $server; } 2>/dev/null &
wait $server || true
# Its children notice that a little later, and keep the ports that a restart needs.
for _ in $(seq 500); do
  (exec 4<>"/dev/tcp/127.0.0.1/$LMTP") 2>/dev/null || break
  sleep 0.02
done
