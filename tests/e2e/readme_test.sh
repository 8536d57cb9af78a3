#!/usr/bin/env bash
# Runs every command of the README: readme_test.sh EXECUTABLE
# A ```sh block after `<!-- tested -->` runs against a server on free ports, all blocks in one shell, and every
# curl must succeed. Any other ```sh block may only name scripts of the repository, which must exist. The table of
# requests must be what `GET /v1` lists.
set -euo pipefail
executable=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
server=
stop() {
  if [[ -n $server ]]; then
    kill -TERM "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$folder"
}
trap stop EXIT
fail() {
  echo "FAILED: $*" >&2
  cat "$folder/log" >&2 2>/dev/null || true
  exit 1
}

awk -v tested="$folder/tested" -v other="$folder/other" '
  /^<!-- tested -->$/ { mark = 1; next }
  /^```sh$/           { out = mark ? tested : other; inside = 1; blocks += mark; next }
  /^```/              { inside = 0; mark = 0; next }
  inside              { print > out }
  !/^$/ && !inside    { mark = 0 }
  END                 { print blocks + 0 > (tested ".count") }
' "$root/README.md"
[[ $(cat "$folder/tested.count") -ge 5 ]] || fail "the README shows only $(cat "$folder/tested.count") tested blocks"
while read -r script rest; do
  [[ -x $root/$script ]] || fail "the README names $script $rest, which is no script"
done <"$folder/other"

mkfifo "$folder/out"
"$executable" serve --demo --data "$folder/data" --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 \
  >"$folder/out" 2>"$folder/log" &
server=$!
exec 3<"$folder/out"
read -r -t 60 ready url admin admin_url <&3 || fail "the server did not become ready"
[[ $ready == ready && $admin == admin ]] || fail "instead of the ready line: $ready $url $admin $admin_url"

{
  echo 'curl() { command curl --silent --show-error --fail-with-body --max-time 20 "$@" && echo; }'
  sed -e "s#localhost:8080#$url#g" -e "s#localhost:8081#$admin_url#g" \
    -e "s#data/admin.token#$folder/data/admin.token#g" -e "s#build/release/holdfast#$executable#g" \
    -e "s#--data data #--data $folder/data #g" -e "s#--to #--to $folder/#g" "$folder/tested"
} >"$folder/commands"
bash -euo pipefail "$folder/commands" || fail "a command of the README"

curl --silent --show-error --fail --max-time 20 "$url/v1" |
  grep -oE '"method":"[A-Z]+","path":"[^"]+"' | sed -E 's/"method":"([A-Z]+)","path":"([^"]+)"/\1 \2/' |
  sort >"$folder/routes"
# shellcheck disable=SC2016  # the backquotes are Markdown
sed -nE 's/^\| `([A-Z]+ [^`]+)` \|.*/\1/p' "$root/README.md" | sort >"$folder/told"
diff "$folder/routes" "$folder/told" || fail "the table of requests is not what the server answers"

kill -TERM "$server"
code=0
wait "$server" || code=$?
server=
[[ $code -eq 0 ]] || fail "the server stopped with exit code $code"
echo "every command of the README works"
