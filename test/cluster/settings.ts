/** The settings of every program in the cluster. Where nothing else is said, they are what Debian's packages or the guides recommend. */
import fs from 'node:fs'
import path from 'node:path'

export const BUCKET = 'groundtrack'
export const PORTS = {
  service: 8080,
  database: 5000,
  pooler: 6432,
  store: 9000,
  balancer: { standard: [8001, 8002], tuned: [8003, 8004] },
} as const
const KEY = { id: 'groundtrack', secret: 'groundtrack-secret' }

interface Place {
  name: string
  address: string
}

export function etcdCommand(address: string, folder: string): string[] {
  const [client, peer] = [`http://${address}:2379`, 'http://127.0.0.1:2380']
  const options = {
    name: 'etcd',
    'data-dir': `${folder}/data`,
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `etcd=${peer}`,
  }
  return ['etcd', ...Object.entries(options).map(([name, value]) => `--${name}=${value}`)]
}

/** JSON is YAML. The times are Patroni's defaults. */
export function patroni({ name, address, etcd, folder }: Place & { etcd: string; folder: string }): string {
  const bin = path.dirname(fs.globSync('/usr/lib/postgresql/*/bin/initdb').toSorted().at(-1)!)
  return JSON.stringify({
    scope: 'groundtrack',
    name,
    restapi: { listen: `${address}:8008`, connect_address: `${address}:8008` },
    etcd3: { host: `${etcd}:2379` },
    bootstrap: {
      dcs: {
        ttl: 30,
        loop_wait: 10,
        retry_timeout: 10,
        maximum_lag_on_failover: 1_048_576,
        synchronous_mode: true,
        postgresql: {
          use_pg_rewind: true,
          use_slots: true,
          parameters: { max_connections: 200, max_wal_size: '192MB', wal_keep_size: '64MB', shared_buffers: '64MB', wal_log_hints: 'on' },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }],
    },
    postgresql: {
      listen: `${address}:5432`,
      connect_address: `${address}:5432`,
      data_dir: `${folder}/data`,
      bin_dir: bin,
      pgpass: `${folder}/pgpass`,
      pg_hba: ['host all all 0.0.0.0/0 trust', 'host replication all 0.0.0.0/0 trust', 'local all all trust'],
      parameters: { unix_socket_directories: folder },
      authentication: { superuser: { username: 'postgres' }, replication: { username: 'replicator', password: 'replicator' } },
    },
  })
}

/** As in Patroni's documentation. */
export function databaseProxy(address: string, databases: readonly Place[]): string {
  return `
global
  maxconn 1000
defaults
  mode tcp
  timeout connect 4s
  timeout client 30m
  timeout server 30m
  timeout check 5s
listen primary
  bind ${address}:${PORTS.database}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 3s fall 3 rise 2 on-marked-down shutdown-sessions
${databases.map(({ name, address: at }) => `  server ${name} ${at}:5432 maxconn 200 check port 8008`).join('\n')}
`
}

export function pgbouncer(address: string): string {
  return `
[databases]
* = host=${address} port=${PORTS.database} user=postgres
[pgbouncer]
pool_mode = transaction
auth_type = any
listen_addr = ${address}
listen_port = ${PORTS.pooler}
unix_socket_dir =
default_pool_size = 20
max_client_conn = 1000
server_login_retry = 1
`
}

export function store(address: string, folder: string): string {
  return `
s3proxy.endpoint=http://${address}:${PORTS.store}
s3proxy.authorization=aws-v4
s3proxy.identity=${KEY.id}
s3proxy.credential=${KEY.secret}
jclouds.provider=filesystem-nio2
jclouds.identity=unused
jclouds.credential=unused
jclouds.filesystem.basedir=${folder}
`
}

/** The first with the timeouts of Debian's package and defaults for all else, the second as the guide recommends. */
export function haproxy(address: string, apis: readonly Place[]): string {
  const servers = apis.map(({ name, address: at }) => `  server ${name} ${at}:${PORTS.service} check`)
  return `
global
  maxconn 2000
defaults
  mode http
  timeout connect 5000
  timeout client 50000
  timeout server 50000
listen standard
  bind ${address}:${PORTS.balancer.standard[0]}
  option httpchk GET /ready
${servers.join('\n')}
listen tuned
  bind ${address}:${PORTS.balancer.tuned[0]}
  option httpchk GET /ready
  option redispatch
  timeout connect 2s
  timeout server 32s
  default-server inter 1s fall 3 rise 2 on-marked-down shutdown-sessions
${servers.join('\n')}
`
}

export function nginx(address: string, apis: readonly Place[]): string {
  const servers = apis.map(({ address: at }) => `server ${at}:${PORTS.service};`).join(' ')
  const forwarded = 'proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;'
  const [standard, tuned] = [PORTS.balancer.standard[1], PORTS.balancer.tuned[1]]
  return `
daemon off;
user root;
pid nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  upstream groundtrack { ${servers} }
  server { listen ${address}:${standard}; location / { proxy_pass http://groundtrack; ${forwarded} } }
  server {
    listen ${address}:${tuned};
    location / { proxy_pass http://groundtrack; ${forwarded} proxy_connect_timeout 2s; proxy_read_timeout 32s; }
  }
}
`
}

interface ServicePlace {
  role: 'api' | 'worker'
  host: Place
  pooler: string
  databases: readonly Place[]
  store: string
  balancer: string
  folder: string
}

export function service({ role, host, pooler, databases, store: storeAddress, balancer, folder }: ServicePlace): Record<string, string> {
  return {
    ROLE: role,
    HOST: host.address,
    PORT: String(PORTS.service),
    BASE_URL: `http://${balancer}:${PORTS.balancer.tuned[0]}`,
    DATABASE_URL: `postgres://postgres@${pooler}:${PORTS.pooler}/groundtrack`,
    DATABASE_DIRECT_URL: `postgres://postgres@${pooler}:${PORTS.database}/groundtrack`,
    DATABASE_POOLER: 'transaction',
    // Whichever of them is the standby serves reads.
    DATABASE_REPLICA_URLS: databases.map(({ address }) => `postgres://postgres@${address}:5432/groundtrack`).join(),
    STORAGE_URL: `s3://${BUCKET}`,
    S3_ENDPOINT: `http://${storeAddress}:${PORTS.store}`,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: KEY.id,
    AWS_SECRET_ACCESS_KEY: KEY.secret,
    SECRETS_KEY: '00'.repeat(32),
    TRUSTED_PROXIES: balancer,
    DATA_DIR: `${folder}/data`,
    TMPDIR: folder,
    HOME: folder,
    // HAProxy's defaults need up to 6 seconds to notice; see the guide.
    DRAIN_SECONDS: '8',
    RASTER_PROCESSES: '1',
    DEMO: '0',
    OFFLINE: '1',
    LOG_LEVEL: 'info',
    LOG_TILES: '0',
  }
}

/** libfaketime reads the offset from the file once a second; only the time of day changes, as when a clock is set. */
export const clock = (library: string, file: string): Record<string, string> => ({
  LD_PRELOAD: library,
  FAKETIME_TIMESTAMP_FILE: file,
  FAKETIME_CACHE_DURATION: '1',
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
})
