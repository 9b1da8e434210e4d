#!/bin/sh
# Prints secrets.example.yaml with random values; the keys of the first caller and of the administrator, which the cluster never sees, go to
# standard error.
set -eu
random() { printf 'n%s' "$(openssl rand -hex 24)"; }
key="sk-$(openssl rand -hex 24)"
admin="sk-$(openssl rand -hex 24)"
sha256() { printf %s "$1" | openssl dgst -sha256 -r | cut -d ' ' -f 1; }
sed \
  -e "s/RANDOM-KEY-SHA256/$(sha256 "$key")/" \
  -e "s/RANDOM-ADMIN-SHA256/$(sha256 "$admin")/" \
  -e "s/RANDOM-NATS/$(random)/" \
  -e "s/RANDOM-ROUTE/$(random)/" \
  -e "s/RANDOM-SESSION/$(random)/" \
  -e "s/RANDOM-POLICY/$(random)/" \
  -e "s/RANDOM-JUDGE/$(random)/" \
  -e "s/RANDOM-POSTGRES/$(random)/" \
  -e '/^#/d' \
  "$(dirname "$0")/secrets.example.yaml"
echo "Key of the first caller: $key" >&2
echo "Key of the administrator: $admin" >&2
