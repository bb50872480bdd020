#!/usr/bin/env bash
# Creates the certificates of this folder again, valid for a hundred years: one authority that the tests trust,
# and the certificates that a server may present. The keys protect nothing.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

new_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }
new_key "$work/authority.key"
new_key server.key
openssl req -x509 -new -key "$work/authority.key" -subj '/CN=Postreel test authority' -days 36500 \
  -addext 'basicConstraints=critical,CA:TRUE' -addext 'keyUsage=critical,keyCertSign' -out authority.pem

# certificate <name> <host name> <first day> <last day>
certificate() {
  printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth\nbasicConstraints=critical,CA:FALSE\n' "$2" >"$work/extensions"
  printf '[ca]\ndefault_ca=own\n[own]\ndatabase=%s/index\nnew_certs_dir=%s\ndefault_md=sha256\npolicy=any\nrand_serial=yes\n[any]\ncommonName=supplied\n' "$work" "$work" >"$work/ca.cnf"
  : >"$work/index"
  openssl req -new -key server.key -subj "/CN=$1" -out "$work/request"
  openssl ca -batch -notext -config "$work/ca.cnf" -cert authority.pem -keyfile "$work/authority.key" \
    -startdate "$3" -enddate "$4" -extfile "$work/extensions" -in "$work/request" -out "$1.pem" 2>/dev/null
}
certificate valid 'IP:127.0.0.1' 20250101000000Z 21200101000000Z
certificate expired 'IP:127.0.0.1' 20240101000000Z 20240201000000Z
certificate other-name 'DNS:other.test' 20250101000000Z 21200101000000Z
openssl req -x509 -new -key server.key -subj '/CN=untrusted' -days 36500 -addext 'subjectAltName=IP:127.0.0.1' -out untrusted.pem
