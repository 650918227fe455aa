/** Replaces all processes one by one, by themselves or by another version, while requests come in at a steady rate. */
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createEffects, effect } from '../faults/operations.ts'
import { withDatabase } from '../faults/kill.ts'
import { call, createOwner, ok } from '../support/client.ts'
import { until } from '../support/service.ts'
import { serviceCommand, type Cluster, type Node } from './cluster.ts'

export interface RollingSettings {
  /** Requests a second, half of them by each load balancer. */
  rate: number
  /** Folder of another checkout to begin with; null: this one. */
  from: string | null
}

export interface RollingResult {
  rollouts: { name: string; requests: number; failed: string[]; longestSeconds: number; seconds: number }[]
}

/** HAProxy's default: two checks, two seconds apart, and one for luck. */
const NOTICE_MS = 6_000
const CALM_FOR_MS = 5_000
const CALM_MS = 500
const root = path.join(import.meta.dirname, '../..')

export async function rolling(
  cluster: Cluster,
  settings: RollingSettings & { dir: string },
  say: (line: string) => void,
): Promise<RollingResult> {
  await withDatabase(cluster.databaseUrl, createEffects)
  const [entrance = ''] = cluster.entrances.standard
  const owner = await createOwner(entrance, 'rolling@example.com')
  const { key } = await ok(entrance, owner.token, 'api_keys.create', {
    name: 'rolling',
    permissions: ['read', 'write'],
    rate_limit: 1_000_000,
  })
  const { id: projectId } = await ok(entrance, owner.token, 'projects.create', { name: 'Rolling' })
  const n = settings.from ?? root
  const next = settings.from ? root : nextVersion(settings.dir)
  const steps = [
    ['restart', n],
    ['upgrade N → N+1', next],
    ['rollback N+1 → N', n],
  ] as const
  const rollouts: RollingResult['rollouts'] = []
  for (const [index, [name, versionDir]] of steps.entries()) {
    const load = startLoad(cluster.entrances.standard, settings.rate, { key, projectId, prefix: `rollout-${index}` })
    // Processes that have just started compile their code while they serve; a rollout begins when the cluster bears the load.
    await until('the cluster to bear the load', async () => (await load.longestOf(CALM_FOR_MS)) < CALM_MS)
    const began = performance.now()
    for (const node of [...cluster.apis, ...cluster.workers]) await replace(cluster, node, versionDir)
    const { requests, failed, longestSeconds } = await load.stop()
    const rollout = { name, requests, failed, longestSeconds, seconds: (performance.now() - began) / 1000 }
    rollouts.push(rollout)
    say(`${name}: ${requests} requests in ${rollout.seconds.toFixed(0)} s, ${failed.length} failed, longest ${longestSeconds.toFixed(1)} s`)
    for (const line of failed.slice(0, 10)) say(`  ! ${line}`)
  }
  const isThere = await withDatabase(cluster.databaseUrl, async (db) => {
    const tables = await db.introspection.getTables()
    return tables.some((table) => table.name === 'project' && table.columns.some((column) => column.name === EXTRA_COLUMN))
  })
  if (!settings.from && !isThere) throw new Error('N+1 did not apply its migration')
  return { rollouts }
}

async function replace(cluster: Cluster, node: Node, versionDir: string): Promise<void> {
  await node.program.stop('SIGTERM')
  node.program.change({ cwd: versionDir, command: serviceCommand })
  node.program.start()
  await until(`${node.name} to be ready`, async () => {
    const isReady = await cluster.isReady(node)
    if (!isReady) await sleep(100)
    return isReady
  })
  if (cluster.apis.includes(node)) await sleep(NOTICE_MS)
}

interface Load {
  /** Of the calls that are answered from now on. */
  longestOf(forMs: number): Promise<number>
  stop(): Promise<{ requests: number; failed: string[]; longestSeconds: number }>
}

/** Sends at its rate whatever happens to earlier requests; one in five writes. */
function startLoad(
  entrances: readonly string[],
  rate: number,
  { key, projectId, prefix }: { key: string; projectId: string; prefix: string },
): Load {
  const failed: string[] = []
  const underWay = new Set<Promise<void>>()
  let requests = 0
  let longestMs = 0
  let recentMs = 0
  const send = async (n: number): Promise<void> => {
    const began = performance.now()
    const entrance = entrances[n % entrances.length]!
    const token = `${prefix}-${n}`
    const [operation, input, headers] =
      n % 5 === 0
        ? ([effect.id, { token }, { 'idempotency-key': token }] as const)
        : (['projects.get', { project_id: projectId }, {}] as const)
    const outcome = await call(entrance, key, operation, input, headers).then(
      ({ status, text }) => (status === 200 ? null : `${status} ${text.slice(0, 200)}`),
      (error: Error) => String(error.cause ?? error),
    )
    const tookMs = performance.now() - began
    longestMs = Math.max(longestMs, tookMs)
    recentMs = Math.max(recentMs, tookMs)
    if (outcome) failed.push(`${operation} by ${entrance}: ${outcome}`)
  }
  const began = performance.now()
  const timer = setInterval(() => {
    for (const due = ((performance.now() - began) / 1000) * rate; requests < due;) {
      const request = send(requests++)
      underWay.add(request)
      void request.finally(() => underWay.delete(request))
    }
  }, 10)
  return {
    async longestOf(forMs) {
      recentMs = 0
      await sleep(forMs)
      return recentMs
    },
    async stop() {
      clearInterval(timer)
      await Promise.all(underWay)
      return { requests, failed, longestSeconds: longestMs / 1000 }
    },
  }
}

const EXTRA_COLUMN = 'test_of_upgrade'
const EXTRA = '9999_test_of_upgrade'

/** This version with one more migration, which adds to a table that every request reads. */
function nextVersion(dir: string): string {
  const copy = path.join(dir, 'next')
  fs.mkdirSync(copy)
  for (const name of fs.readdirSync(root)) {
    if (name === 'src' || name === 'test' || name === 'sandbox')
      fs.cpSync(path.join(root, name), path.join(copy, name), { recursive: true })
    else if (!name.startsWith('.')) fs.symlinkSync(path.join(root, name), path.join(copy, name))
  }
  fs.writeFileSync(
    path.join(copy, `src/db/migrations/${EXTRA}.ts`),
    `import { sql, type Kysely } from 'kysely'
export const kind = 'expand'
export const up = async (db: Kysely<unknown>): Promise<void> =>
  void (await sql\`alter table project add column ${EXTRA_COLUMN} text\`.execute(db))
`,
  )
  const list = path.join(copy, 'src/db/migrate.ts')
  const text = fs.readFileSync(list, 'utf8')
  const begin = 'export const MIGRATIONS: Record<string, Migration> = {'
  const end = text.indexOf('\n}', text.indexOf(begin))
  fs.writeFileSync(list, `import * as extra from './migrations/${EXTRA}.ts'\n${text.slice(0, end)}\n  '${EXTRA}': extra,${text.slice(end)}`)
  return copy
}
