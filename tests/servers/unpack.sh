#!/usr/bin/env bash
# unpack.sh DIR: unpacks the packages of further mail servers and mail programs to DIR, for tests; as root, or by sudo.
#
# Installed, they would replace Postfix, or run as services of this machine. What they depend on is unpacked beside them
# if it is not installed.
set -euo pipefail
if [ "$(id -u)" != 0 ]; then
  exec sudo -n bash "$0" "$@"
fi
# Those of one line do not conflict with each other.
groups="mutt alpine notmuch mailutils spamassassin
cyrus-imapd sasl2-bin
courier-imap
mailutils-imap4d
exim4-daemon-light
opensmtpd"
dir=$1
archives=$(mktemp -d)
trap 'rm -rf "$archives"' EXIT
mkdir -p "$dir" "$archives/partial"
while read -r group; do
  # shellcheck disable=SC2086 # one word for each package
  apt-get install -y -q --no-install-recommends --download-only -o APT::Sandbox::User=root \
    -o Dir::Cache::archives="$archives" $group
  for package in $group; do
    # One that is installed is downloaded all the same: tests look for it here.
    compgen -G "$archives/${package}_*.deb" >/dev/null || (cd "$archives" && apt-get download -q -o APT::Sandbox::User=root "$package")
  done
done <<<"$groups"
for package in "$archives"/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x -C "$dir" --keep-directory-symlink \
    --exclude=./usr/share/doc --exclude=./usr/share/man --exclude=./usr/share/locale
done
cp "$0" "$dir/unpack.sh" # tests/run compares it with this file
