/**
 * What PgBouncer in transaction mode costs: tiles, searches and writes of one service through it and of one that connects directly, on
 * one PostgreSQL server. The two take turns, and clients are as many at each; times are medians of rounds, ratios are through/direct.
 *
 * `npm run bench -- pooler [--rounds 5] [--calls 300] [--clients 4]`
 */
import { parseArgs } from 'node:util'
import { createOwner, ok } from '../test/support/client.ts'
import { noPgBouncer, startPgBouncer } from '../test/support/pgbouncer.ts'
import { scene, tileAt } from '../test/support/scene.ts'
import { startServerPostgres } from '../test/support/server-postgres.ts'
import { openLab, type Service } from '../test/support/service.ts'
import { uploadedItem } from '../test/support/uploaded.ts'
import { median, treeCpuMs } from './lib/cpu.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    calls: { type: 'string', default: '300' },
    clients: { type: 'string', default: '4' },
  },
})
const [ROUNDS, CALLS, CLIENTS] = [Number(values.rounds), Number(values.calls), Number(values.clients)]
const POOL_SIZE = 20
const SCENE_PX = 1024
const TILE_ZOOM = 13
/** The scene is about a degree wide; its edges are left out. */
const [WEST, NORTH, MARGIN] = [151, -33, 0.05]

interface Side {
  name: string
  service: Service
}

interface Measured {
  perSecond: number
  p95Ms: number
  cpuMs: number
}

/** No call is like another. */
let counter = 0

const missing = noPgBouncer()
const server = missing ? null : await startServerPostgres({ settings: ['max_connections=200'] })
if (server) await compare(server).finally(() => server.stop())
else console.log(`skipped: ${missing ?? 'no PostgreSQL is installed in /usr/lib/postgresql'}`)

async function compare({ createDatabase, pid: postmaster }: NonNullable<typeof server>): Promise<void> {
  const direct = await createDatabase('bench')
  const bouncer = await startPgBouncer({ serverUrl: direct, poolSize: POOL_SIZE, preparedStatements: 600 })
  const lab = openLab()
  try {
    const env = { DATA_DIR: lab.dataDir(), DEMO: '0', SANDBOX: '0', DATABASE_DIRECT_URL: direct }
    const isPreparing = Number(bouncer.version.split('.')[1]) >= 21
    const through = { DATABASE_URL: bouncer.urlFor(direct), ...(isPreparing ? {} : { DATABASE_POOLER: 'transaction' }) }
    const sides: Side[] = [
      { name: 'direct', service: await lab.start({ env: { ...env, DATABASE_URL: direct } }) },
      { name: 'through', service: await lab.start({ env: { ...env, ...through } }) },
    ]
    const work = await prepare(sides[0]!.service.baseUrl)
    console.log(`PgBouncer ${bouncer.version}${isPreparing ? '' : ', statements not prepared'}; ${CLIENTS} clients, ${CALLS} calls a round`)
    for (const [name, send] of Object.entries(work)) await compareWork(name, sides, send, postmaster)
  } finally {
    await lab.close()
    await bouncer.stop()
  }
}

type Send = (baseUrl: string, n: number) => Promise<void>

async function prepare(baseUrl: string): Promise<Record<string, Send>> {
  const { token } = await createOwner(baseUrl, 'bench@example.com')
  const { key } = await ok(baseUrl, token, 'api_keys.create', { name: 'bench', permissions: ['read', 'write'], rate_limit: 2_000_000_000 })
  const { id: project_id } = await ok(baseUrl, token, 'projects.create', { name: 'Bench' })
  const itemId = await uploadedItem({
    baseUrl,
    token,
    projectId: project_id,
    bytes: await scene({ west: WEST, north: NORTH, width: SCENE_PX, height: SCENE_PX }),
  })
  const corner = tileAt(WEST + MARGIN, NORTH - MARGIN, TILE_ZOOM)
  const span = tileAt(WEST + 1, NORTH, TILE_ZOOM).x - corner.x
  const headers = { authorization: `Bearer ${key}` }
  const tile = async (at: string, x: number, y: number, query = '') => {
    const response = await fetch(`${at}/api/v1/items/${itemId}/tiles/${TILE_ZOOM}/${x}/${y}.png${query}`, { headers })
    await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`a tile was answered with ${response.status}`)
  }
  return {
    // Another range each time, so that no tile is in a cache.
    'tiles, cold': (at, n) => tile(at, corner.x + (n % span), corner.y + (Math.floor(n / span) % span), `?rescale=0,${10_000 + n}`),
    'tiles, repeated': (at) => tile(at, corner.x, corner.y),
    searches: async (at) => void (await ok(at, key, 'items.search', { project_id })),
    writes: async (at, n) => void (await ok(at, key, 'collections.create', { project_id, name: `Collection ${n}` })),
  }
}

async function compareWork(name: string, sides: readonly Side[], send: Send, postmaster: number): Promise<void> {
  const rounds = new Map<string, Measured[]>(sides.map((side) => [side.name, []]))
  for (let round = -1; round < ROUNDS; round++)
    for (const { name: side, service } of round % 2 ? sides.toReversed() : sides) {
      const measured = await measure(service, send, postmaster)
      // The first round only warms up.
      if (round >= 0) rounds.get(side)!.push(measured)
    }
  const of = (side: string, what: keyof Measured) => median(rounds.get(side)!.map((measured) => measured[what]))
  const ratio = (what: keyof Measured) => (of('through', what) / of('direct', what)).toFixed(2)
  for (const { name: side } of sides) {
    const [rate, p95, cpu] = [of(side, 'perSecond').toFixed(0), of(side, 'p95Ms').toFixed(1), of(side, 'cpuMs').toFixed(2)]
    console.log(`${name.padEnd(16)} ${side.padEnd(8)} ${rate.padStart(6)}/s  p95 ${p95.padStart(6)} ms  ${cpu.padStart(6)} CPU ms a call`)
  }
  console.log(`${name.padEnd(16)} ratio    ${ratio('perSecond')} by rate, ${ratio('p95Ms')} by p95, ${ratio('cpuMs')} by CPU`)
}

/** CPU of the service and of the database; the server's own processes that ended are in it. */
async function measure({ pid, baseUrl }: Service, send: Send, postmaster: number): Promise<Measured> {
  const cpu = () => treeCpuMs(pid) + treeCpuMs(postmaster)
  const [before, startedMs, times] = [cpu(), performance.now(), [] as number[]]
  let left = CALLS
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (left-- > 0) {
        const sentMs = performance.now()
        await send(baseUrl, counter++)
        times.push(performance.now() - sentMs)
      }
    }),
  )
  const elapsedMs = performance.now() - startedMs
  const p95Ms = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)]!
  return { perSecond: (CALLS / elapsedMs) * 1_000, p95Ms, cpuMs: (cpu() - before) / CALLS }
}
