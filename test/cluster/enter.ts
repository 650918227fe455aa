/**
 * A cluster has namespaces of its own: for the network, so that hosts have addresses and nothing leaves them; for mounts, so that disks
 * can be small; and for processes, so that nothing outlives it, whatever happens. `main.ts` runs inside.
 */
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const MAIN = path.join(import.meta.dirname, 'main.ts')

/** Programs, and Debian's packages that contain them. */
const PROGRAMS: readonly (readonly [program: string, debianPackage: string])[] = [
  ['/usr/bin/patroni', 'patroni'],
  ['/usr/bin/etcd', 'etcd-server'],
  ['/usr/sbin/haproxy', 'haproxy'],
  ['/usr/sbin/nginx', 'nginx-light'],
  ['/usr/sbin/pgbouncer', 'pgbouncer'],
  ['/usr/sbin/iptables', 'iptables'],
  ['/usr/sbin/tc', 'iproute2'],
  ['/usr/bin/java', 'default-jre-headless'],
]

/** Why there can be no cluster, for tests that skip; null where there can. */
export function noCluster(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'a cluster in network namespaces needs Linux and root'
  const missing = PROGRAMS.filter(([program]) => !fs.existsSync(program)).map(([, debianPackage]) => debianPackage)
  if (fs.globSync('/usr/lib/postgresql/*/bin/initdb').length === 0) missing.push('postgresql')
  if (missing.length > 0) return `a cluster needs Debian's packages: apt-get install --no-install-recommends ${missing.join(' ')}`
  const works = spawnSync('unshare', ['--net', '--mount', '--pid', '--fork', 'ip', 'link', 'add', 'probe', 'type', 'bridge'])
  return works.status === 0 ? null : `namespaces do not work here: ${works.stderr?.toString().trim() ?? works.error}`
}

/** Runs `main.ts` with the arguments in new namespaces, prints its lines as they come, and returns what it found. */
export async function inCluster<T>(command: string, settings: object, onLine: (line: string) => void): Promise<T> {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'groundtrack-cluster-'))
  fs.chmodSync(dir, 0o755) // PostgreSQL and PgBouncer run as other users.
  const archive = path.join(dir, 's3.jar')
  try {
    fs.symlinkSync(storeArchive(), archive)
    const child = spawn(
      'setpriv',
      // The first process in the namespace adopts orphans: a shell collects them when they end, which Node would not.
      [
        '--pdeathsig',
        'KILL',
        'unshare',
        '--net',
        '--mount',
        '--pid',
        '--fork',
        '--kill-child',
        '--mount-proc',
        'bash',
        '-c',
        '"$@" & wait $!',
        'cluster',
      ].concat(process.execPath, '--disable-warning=ExperimentalWarning', MAIN, command, JSON.stringify({ ...settings, dir })),
      { stdio: ['ignore', 'pipe', 'inherit'], cwd: path.join(import.meta.dirname, '../..') },
    )
    // A test that is stopped leaves nothing behind: the first process ends, and with it all others.
    const end = () => void child.kill('SIGKILL')
    process.once('exit', end)
    let rest = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      for (const line of lines) onLine(line)
    })
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    process.off('exit', end)
    if (code !== 0) throw new Error(`the cluster ended with ${code}:\n${logsIn(dir)}`)
    return JSON.parse(fs.readFileSync(path.join(dir, 'result.json'), 'utf8')) as T
  } finally {
    if (process.env['CLUSTER_LOGS']) fs.cpSync(path.join(dir, 'logs'), process.env['CLUSTER_LOGS'], { recursive: true })
    fs.rmSync(dir, { recursive: true, force: true, maxRetries: 10 })
  }
}

/** The S3 server's archive, fetched while there still is a network. */
function storeArchive(): string {
  const { status, stdout } = spawnSync('sh', [path.join(import.meta.dirname, '../s3/server.sh'), 'install'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0) throw new Error('the S3 server cannot be installed')
  return stdout.trim()
}

const LOG_TAIL = 2_000

function logsIn(dir: string): string {
  return fs
    .globSync(path.join(dir, 'logs/*'))
    .map((file) => `== ${path.basename(file)}\n${fs.readFileSync(file, 'utf8').slice(-LOG_TAIL)}`)
    .join('\n')
}
