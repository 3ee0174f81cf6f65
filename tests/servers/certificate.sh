#!/usr/bin/env bash
# certificate.sh DIR: makes a CA (ca.pem) and a certificate by it for localhost and 127.0.0.1 (cert.pem, key.pem) in
# DIR/tls, unless they are there.
set -eu
mkdir -p "$1/tls"
cd "$1/tls"
[ ! -f cert.pem ] || exit 0
exec 2>"$1/openssl.log"
key="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
# shellcheck disable=SC2086 # several words
openssl req -x509 $key -days 30 -subj /CN=test-ca -keyout ca.key -out ca.pem
# shellcheck disable=SC2086 # several words
openssl req $key -subj /CN=localhost -keyout key.pem -out csr.pem
openssl x509 -req -in csr.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -out cert.pem \
  -extfile <(echo "subjectAltName=DNS:localhost,IP:127.0.0.1")
