# shellcheck shell=bash disable=SC2034,SC2154  # run.sh and its parts share their variables
# The servers of bench/peers/run.sh: which there are, how each is started, and how all are ended.
# start_NAME sets `port` and waits until the server answers; `server` is its process.

present=()       # servers whose programs are there
server=
port=
declare -A label=() durable=()

missing() { echo "peers: without $1: $2 is missing (scripts/install_packages.sh --peers)" >&2; }
has() { command -v "$1" >/dev/null; }
wanted() { [ -z "$only" ] || [[ ,$only, == *",$1,"* ]]; }

# Finds out which of the wanted servers can be run, and says which not.
look_for_servers() {
  local at
  if ! wanted nginx; then :
  elif has nginx; then
    present+=(nginx)
    label[nginx]="nginx $(nginx -v 2>&1 | sed 's#.*/##'), a constant 201"
    durable[nginx]="nothing is stored"
  else missing nginx "the program nginx"; fi

  if wanted holdfast; then
    present+=(holdfast)
    label[holdfast]="$("$holdfast" version), $(git -C "$here" log -1 --format=%h 2>/dev/null || echo 'no commit')"
    durable[holdfast]="on disk before the answer (fdatasync, in groups)"
  fi

  if ! wanted redis_always && ! wanted redis_everysec; then :
  elif has redis-server && has redis-cli && has redis-benchmark; then
    at=$(redis-server --version | sed 's/.* v=\([^ ]*\).*/\1/')
    if wanted redis_always; then present+=(redis_always); fi
    if wanted redis_everysec; then present+=(redis_everysec); fi
    label[redis_always]="Redis $at, claim script"
    label[redis_everysec]=${label[redis_always]}
    durable[redis_always]="on disk before the answer (appendonly yes, appendfsync always)"
    durable[redis_everysec]="up to 1 s lost (appendonly yes, appendfsync everysec)"
  else missing redis "redis-server, redis-cli or redis-benchmark"; fi

  if ! wanted express; then :
  elif ! has redis-server || ! has redis-cli; then missing express "redis-server or redis-cli"
  elif ! has node || ! has npm; then missing express "node or npm"
  elif ! install_express; then
    echo "peers: without express: npm could not install its packages: $(tail -n 1 "$scratch/npm")" >&2
  else
    present+=(express)
    at=$(sed -n 's/.*"version": *"\(.*\)".*/\1/p' "$scratch/express/node_modules/express/package.json")
    label[express]="Express $at on Node.js $(node --version | tr -d v), Redis, Lua"
    durable[express]="up to 1 s lost (Redis: appendonly yes, appendfsync everysec)"
  fi

  postgres=$(for folder in /usr/lib/postgresql/*/bin; do echo "$folder"; done | sort -V | tail -n 1)
  has initdb && postgres=$(dirname "$(command -v initdb)")
  if ! wanted postgres; then :
  elif [ ! -x "$postgres/initdb" ] || ! has pgbench || ! has psql; then
    missing postgres "initdb, psql or pgbench"
  elif [ "$(id -u)" -eq 0 ] && ! id postgres >/dev/null 2>&1; then
    echo "peers: without postgres: it does not run as root, and there is no user postgres" >&2
  else
    present+=(postgres)
    label[postgres]="PostgreSQL $("$postgres/postgres" --version | awk '{print $3}'), FOR UPDATE SKIP LOCKED"
    durable[postgres]="on disk before the answer (fsync on, synchronous_commit on)"
  fi
}

# The packages of the lock file, below the scratch folder only; npm's cache, too, for who has no home.
install_express() {
  [ -w "${HOME:-/}" ] || export npm_config_cache=$scratch/npm-cache
  mkdir "$scratch/express"
  cp "$here"/express/{package.json,package-lock.json,server.js} "$scratch/express/"
  (cd "$scratch/express" && timeout 100 npm ci --ignore-scripts --no-audit --no-fund \
    --fetch-retries 1 --fetch-retry-mintimeout 1000) >"$scratch/npm" 2>&1
}

# Below what the kernel gives to clients, so that no connection takes it meanwhile.
free_port() {
  for _ in $(seq 100); do
    port=$((10000 + RANDOM % 20000))
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then return; fi
  done
  fail "no free port"
}

# COMMAND...: a process on the servers' cores that ends when this script does, even by kill -9.
started=()
as_user=()  # changes the user; before setpriv --pdeathsig, which a change of user would undo
run_on_server_cores() {
  "${as_user[@]}" setpriv --pdeathsig TERM taskset -c "$server_cores" "$@" \
    >"$scratch/out" 2>"$scratch/err" &
  server=$!
  started+=("$server")
}

# COMMAND...: until it succeeds.
wait_until() {
  for _ in $(seq 300); do
    if "$@" >/dev/null 2>&1; then return; fi
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  cat "$scratch/out" "$scratch/err" >&2
  fail "the server did not start: $*"
}

# Newest first: Express ends before its Redis.
stop_server() {
  local i pid
  for ((i = ${#started[@]} - 1; i >= 0; i--)); do
    pid=${started[i]}
    kill "$pid" 2>/dev/null || true
    for _ in $(seq 150); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  started=()
  server=
}

start_nginx() {
  free_port
  mkdir -p "$scratch/nginx"
  # The answer is as long as holdfast's.
  cat >"$scratch/nginx/conf" <<CONF
daemon off;
worker_processes 1;
pid $scratch/nginx/pid;
error_log $scratch/nginx/log;
# nginx closes idle connections once a sixteenth of these is all that is left.
events { worker_connections $((idle * 5 / 4 + 1000)); }
http {
  access_log off;
  keepalive_requests 2000000000;
  keepalive_timeout 3600s;
  client_body_temp_path $scratch/nginx/body;
  proxy_temp_path $scratch/nginx/proxy;
  fastcgi_temp_path $scratch/nginx/fastcgi;
  uwsgi_temp_path $scratch/nginx/uwsgi;
  scgi_temp_path $scratch/nginx/scgi;
  default_type application/json;
  server {
    listen 127.0.0.1:$port backlog=4096;
    location / { return 201 '$constant_answer'; }
  }
}
CONF
  run_on_server_cores nginx -p "$scratch/nginx" -e "$scratch/nginx/log" -c "$scratch/nginx/conf"
  wait_until curl -sS "http://127.0.0.1:$port/"
}

start_holdfast() {
  rm -rf "$scratch/data"
  HOLDFAST_ADMIN_TOKEN=$token HOLDFAST_LOG_LEVEL=warn HOLDFAST_HTTP_IDLE_TIMEOUT_S=3600 \
    HOLDFAST_HTTP_CONNECTIONS_MAX=$((idle + 1000)) HOLDFAST_HTTP_STREAMS_MAX=100 \
    run_on_server_cores "$holdfast" serve --data "$scratch/data" --listen 127.0.0.1:0 \
    --admin-listen 127.0.0.1:0 --io-threads 1
  wait_until grep -q '^ready ' "$scratch/out"
  port=$(sed -n 's#^ready http://127.0.0.1:\([0-9]*\) .*#\1#p' "$scratch/out")
}

# An event of that many places, all free and on sale: NAME PLACES
new_event_holdfast() {
  curl -sS --fail-with-body -o "$scratch/answer" "http://127.0.0.1:$port/v1/events" \
    -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
    -d '{"id":"'"$1"'","name":"Claims","publish":true,"policy":{"hold_ttl_s":300},
         "categories":[{"key":"std","name":"Standard","price":4500}],
         "sections":[{"id":"GA","name":"Floor","category":"std","capacity":'"$2"'}]}' ||
    { cat "$scratch/answer" >&2; fail "no event"; }
  wait_until event_is_open "$1"
}
event_is_open() { curl -sS "http://127.0.0.1:$port/v1/events/$1" | grep -q '"state":"open"'; }

start_redis() {  # appendfsync
  free_port
  rm -rf "$scratch/redis"
  mkdir "$scratch/redis"
  run_on_server_cores redis-server --bind 127.0.0.1 --port "$port" --dir "$scratch/redis" \
    --save "" --appendonly yes --appendfsync "$1" --auto-aof-rewrite-percentage 0
  wait_until redis-cli -p "$port" ping
}
start_redis_always() { start_redis always; }
start_redis_everysec() { start_redis everysec; }

start_express() {
  start_redis everysec
  redis_port=$port
  free_port
  run_on_server_cores env NODE_ENV=production node "$scratch/express/server.js" "$port" "$redis_port"
  wait_until curl -sS "http://127.0.0.1:$port/healthz"
}
new_event_express() { redis-cli -p "$redis_port" set "stock:$1:GA" "$2" >/dev/null; }

start_postgres() {
  local as_user=() folder=$scratch/postgres
  local session=(psql -q -v ON_ERROR_STOP=1 -h 127.0.0.1 -U holdfast postgres)
  free_port
  # PostgreSQL does not run as root.
  if [ "$(id -u)" -eq 0 ]; then
    as_user=(setpriv --reuid postgres --regid postgres --clear-groups)
  fi
  if [ ! -d "$folder" ]; then
    mkdir "$folder"
    if [ "$(id -u)" -eq 0 ]; then
      chmod 711 "$scratch"
      chown postgres "$folder"
    fi
    # --no-sync is for the making of the folder only.
    (cd / && "${as_user[@]}" "$postgres/initdb" --no-sync -D "$folder/data" -U holdfast -A trust) \
      >"$scratch/out" 2>&1 || { cat "$scratch/out" >&2; fail "initdb failed"; }
  fi
  run_on_server_cores "$postgres/postgres" -D "$folder/data" -p "$port" -k "" -h 127.0.0.1 \
    -c shared_buffers=512MB -c max_connections=$((connections + 10))
  wait_until "${session[@]}" -p "$port" -c 'SELECT 1'
  # Anew for each round: no server begins with what it did before.
  "${session[@]}" -p "$port" -f "$here/places.sql" 2>"$scratch/sql" || { cat "$scratch/sql" >&2; fail "places.sql"; }
}
