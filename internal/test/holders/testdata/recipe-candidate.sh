#!/bin/sh
# A candidate that follows Consul's guide with curl: recipe-candidate.sh ADDRESS KEY VALUE
# It watches the key, and acquires it whenever no session holds it.
url=http://$1/v1 key=$2 value=$3 index=0 session=
until [ -n "$session" ]; do
  session=$(curl -fsS -X PUT -d '{"Name":"web","LockDelay":"1s"}' "$url/session/create" | sed -n 's/.*"ID": *"\([^"]*\)".*/\1/p')
done
while :; do
  answer=$(curl -sS -i "$url/kv/$key?index=$index&wait=60s") || { sleep 1; continue; }
  index=$(printf '%s\n' "$answer" | tr -d '\r' | sed -n 's/^X-Consul-Index: //p')
  case $answer in
  *'"Session"'*) ;;
  *) curl -fsS -X PUT -d "$value" "$url/kv/$key?acquire=$session" >/dev/null ;;
  esac
done
