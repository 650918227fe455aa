/**
 * What a streaming replica takes off the primary: a mixed run of searches, lists and writes, with and without DATABASE_REPLICA_URLS.
 *
 * The same calls each time, from as many clients, against one process. It prints the share of reads that the replica served, the CPU
 * time of all processes of the primary and the ratio of the two runs, which a busy machine changes less than times.
 * `npm run bench -- replicas [--items 2000] [--calls 3000] [--writes 0.1]`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createOwner, ok, type Owner } from '../test/support/client.ts'
import { seeded } from '../test/support/random.ts'
import { startServerPostgres, type ServerPostgres } from '../test/support/server-postgres.ts'
import { openLab, until, type Service } from '../test/support/service.ts'

const { values } = parseArgs({
  options: {
    items: { type: 'string', default: '2000' },
    calls: { type: 'string', default: '3000' },
    writes: { type: 'string', default: '0.1' },
  },
})
const CLIENTS = 8
const ORGANIZATIONS = 4
/** Of Linux, for times in /proc. */
const TICKS_PER_SECOND = 100

const server = await startServerPostgres({ settings: ['max_connections=200'] })
if (server) await compare(server).finally(() => server.stop())
else console.log('skipped: no PostgreSQL is installed in /usr/lib/postgresql')

async function compare(primary: ServerPostgres): Promise<void> {
  const replica = await primary.startReplica()
  const lab = openLab()
  try {
    const url = await primary.createDatabase('bench')
    const env = { DATABASE_URL: url, DATA_DIR: lab.dataDir(), DEMO: '0', METRICS_TOKEN: 'bench' }
    const plain = await lab.start({ env })
    const owners = await Promise.all(Array.from({ length: ORGANIZATIONS }, (_, n) => createOwner(plain.baseUrl, `owner${n}@example.com`)))
    const projects = await Promise.all(owners.map((owner) => fill(plain, owner)))
    const without = await run(primary, plain, owners, projects)
    await plain.kill('SIGTERM')
    const replicated = await lab.start({ env: { ...env, DATABASE_REPLICA_URLS: replica.urlFor(url) } })
    await until('the replica to be used', async () => (await metricOf(replicated, USED)) === 1)
    const with_ = await run(primary, replicated, owners, projects)
    const share = ((await metricOf(replicated, READS)) - (await metricOf(replicated, READS_REPEATED))) / with_.reads
    console.log(`share of reads by the replica: ${(100 * share).toFixed(1)}%`)
    console.log(`CPU of the primary: ${without.cpuSeconds.toFixed(2)} s without, ${with_.cpuSeconds.toFixed(2)} s with`)
    console.log(`ratio: ${(with_.cpuSeconds / without.cpuSeconds).toFixed(2)}`)
  } finally {
    await lab.close()
    await replica.stop()
  }
}

async function fill({ baseUrl }: Service, { token }: Owner): Promise<string> {
  const { id } = await ok(baseUrl, token, 'projects.create', { name: 'Bench' })
  for (let n = 0; n < Number(values.items) / ORGANIZATIONS; n++) await addItem(baseUrl, token, id, n)
  return id
}

async function addItem(baseUrl: string, token: string, project_id: string, n: number): Promise<void> {
  const [lon, lat] = [(n * 37) % 170, (n * 13) % 80]
  const ring = [
    [lon, lat],
    [lon + 1, lat],
    [lon + 1, lat + 1],
    [lon, lat + 1],
    [lon, lat],
  ]
  const datetime = new Date(Date.UTC(2024, 0, 1 + (n % 700))).toISOString()
  const geometry = { type: 'Polygon', coordinates: [ring] }
  await ok(baseUrl, token, 'items.create', { project_id, type: 'raster', name: `Item ${n}`, geometry, datetime, cloud_cover: n % 100 })
}

async function run(primary: ServerPostgres, { baseUrl }: Service, owners: readonly Owner[], projects: readonly string[]) {
  const before = cpuSeconds(primary.pid)
  let [left, reads] = [Number(values.calls), 0]
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      const random = seeded(client)
      const [{ token }, project_id] = [owners[client % ORGANIZATIONS]!, projects[client % ORGANIZATIONS]!]
      while (left-- > 0) {
        if (random.next() < Number(values.writes)) await addItem(baseUrl, token, project_id, random.integer(0, 10_000))
        else {
          reads++
          const [west, south] = [random.integer(0, 150), random.integer(0, 60)]
          if (random.next() < 0.5) await ok(baseUrl, token, 'items.list', { project_id, limit: 50 })
          else await ok(baseUrl, token, 'items.search', { project_id, bbox: [west, south, west + 20, south + 20] })
        }
      }
    }),
  )
  return { reads, cpuSeconds: cpuSeconds(primary.pid) - before }
}

/** The ends of lines of `/metrics`. */
const USED = 'used\\{[^}]*'
const READS = 'reads_total\\{[^}]*result="served"'
const READS_REPEATED = 'reads_total\\{[^}]*result="repeated_on_primary"'

async function metricOf({ baseUrl }: Service, name: string): Promise<number> {
  const response = await fetch(`${baseUrl}/metrics`, { headers: { authorization: 'Bearer bench' } })
  return Number(new RegExp(`^groundtrack_replica_${name}\\} (\\S+)$`, 'm').exec(await response.text())?.[1] ?? 0)
}

/** Of a server: its own, that of its running processes, and that of those that have ended. */
function cpuSeconds(postmaster: number): number {
  const stats = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => statOf(pid))
  const own = stats.filter(({ pid, parent }) => pid === postmaster || parent === postmaster)
  return own.reduce((sum, { ticks, endedTicks, pid }) => sum + ticks + (pid === postmaster ? endedTicks : 0), 0) / TICKS_PER_SECOND
}

function statOf(pid: string): { pid: number; parent: number; ticks: number; endedTicks: number }[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    return [{ pid: Number(pid), parent: fields[1]!, ticks: fields[11]! + fields[12]!, endedTicks: fields[13]! + fields[14]! }]
  } catch {
    return [] // It ended meanwhile.
  }
}
