/**
 * Search of many items over HTTP: bbox with time, polygons, CQL2, ids, deep pages, counts; as the archive grows. Items are invented
 * and loaded by `COPY`. With `--peer` the same queries go to another STAC API that holds the same items (bench/items-peer.sh), whose
 * processes `--peer-pids` names where their CPU time is wanted.
 *
 *     npm run bench:items -- --sizes 100000,1000000 --queries 60
 *     npm run bench:items -- --sizes 200000 --export /tmp/items.ndjson   # the same items for a peer
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { createWriteStream, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { startEmbedded, SUPERUSER } from '#db/embedded.ts'
import { openDatabase } from '#db/open.ts'
import { copy } from '#model/imagery/item-copy.ts'
import { fromFeature } from '#model/imagery/stac-import.ts'
import { treeCpuMs } from './lib/cpu.ts'
import { percentile, random, sceneAt, toStac } from './lib/scenes.ts'

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '100000,1000000' },
    queries: { type: 'string', default: '60' },
    pages: { type: 'string', default: '10,100' },
    data: { type: 'string', default: path.join(os.tmpdir(), `groundtrack-bench-items-${process.pid}`) },
    keep: { type: 'boolean', default: false },
    export: { type: 'string' },
    peer: { type: 'string' },
    'peer-pids': { type: 'string', default: '' },
    'peer-collection': { type: 'string', default: 'scenes' },
  },
})
const SIZES = values.sizes.split(',').map(Number)
const QUERIES = Number(values.queries)
const PAGES = values.pages.split(',').map(Number)
const BATCH = 5_000
const DAY_MS = 86_400_000
const loadAverage = () => readFileSync('/proc/loadavg', 'utf8').split(' ').slice(0, 2).join(' ')

interface Service {
  url: string
  process: ChildProcess
  stop(): Promise<void>
}

async function start(): Promise<Service> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', path.join(import.meta.dirname, '../src/main.ts')], {
    env: { ...process.env, DATA_DIR: values.data, PORT: '0', DATABASE_URL: '', DEMO: '0', LOG_LEVEL: 'error' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      const found = /Service\s+(http\S+)/.exec(said)
      if (found) resolve(found[1]!)
    })
    child.once('exit', () => reject(new Error(`the service did not start: ${said}`)))
  })
  return {
    url,
    process: child,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

// oxlint-disable-next-line typescript/no-explicit-any
async function post(url: string, body: object, token?: string): Promise<any> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
    body: JSON.stringify(body),
  })
  const value = await answer.json()
  if (answer.status >= 300) throw new Error(`${url} answered ${answer.status}: ${JSON.stringify(value).slice(0, 300)}`)
  return value
}

/** Somebody with a collection and a key that may ask as often as it likes. */
async function settle({ url }: Service) {
  const person = { email: `bench-${Date.now()}@example.com`, password: 'correct horse battery', name: 'Bench' }
  const first = await post(`${url}/auth/sign-up`, person)
  const org = await post(`${url}/v1/op/organizations.create`, { name: 'Bench' }, first.access_token)
  const { access_token: token } = await post(`${url}/auth/refresh`, { refresh_token: first.refresh_token, organization_id: org.id })
  const project = await post(`${url}/v1/op/projects.create`, { name: 'Bench' }, token)
  const collection = await post(`${url}/v1/op/collections.create`, { project_id: project.id, name: 'Scenes' }, token)
  const { key } = await post(`${url}/v1/op/api_keys.create`, { name: 'bench', permissions: ['read'], rate_limit: 100_000_000 }, token)
  return { organizationId: org.id as string, projectId: project.id as string, collectionId: collection.id as string, key: key as string }
}
type Place = Awaited<ReturnType<typeof settle>>

const draw = random(7)
let loaded = 0

async function load({ organizationId, projectId, collectionId }: Place, upTo: number): Promise<void> {
  const server = await startEmbedded(values.data)
  const database = openDatabase({ host: server.socketDir, user: SUPERUSER, database: 'postgres' })
  const out = values.export ? createWriteStream(values.export, { flags: loaded === 0 ? 'w' : 'a' }) : null
  const [began, before, now] = [performance.now(), loaded, new Date()]
  const target = { organizationId, projectId, createdBy: null, now }
  for (; loaded < upTo; loaded += BATCH) {
    const features = Array.from({ length: Math.min(BATCH, upTo - loaded) }, (_, i) => toStac(sceneAt(loaded + i, draw)))
    out?.write(features.map((each) => `${JSON.stringify({ ...each, collection: values['peer-collection'] })}\n`).join(''))
    await database.db.transaction().execute((tx) =>
      copy(
        tx,
        target,
        features.map((each) => fromFeature(each, collectionId, { mayRead: () => false })),
      ),
    )
  }
  loaded = upTo
  for (const table of ['item', 'item_cell', 'asset']) await sql`vacuum analyze ${sql.table(table)}`.execute(database.db)
  const seconds = (performance.now() - began) / 1000
  const { rows } = await sql<{ size: string }>`
    select string_agg(relname || ' ' || pg_size_pretty(pg_total_relation_size(oid)), ', ' order by relname) as size
    from pg_class where relname in ('item', 'item_cell', 'asset')`.execute(database.db)
  console.log(
    `loaded ${upTo - before} items in ${seconds.toFixed(0)} s (${((upTo - before) / seconds).toFixed(0)} items/s); on disk ` +
      `${rows[0]!.size}; load average ${loadAverage()}`,
  )
  out?.end()
  await database.close()
  await server.leave()
}

/** Beyond the first size, the same footprints are seen again at other times, as satellites do: made in the database itself. */
async function revisit(upTo: number): Promise<void> {
  const server = await startEmbedded(values.data)
  const database = openDatabase({ host: server.socketDir, user: SUPERUSER, database: 'postgres', statement_timeout: 0 })
  const { db } = database
  const [began, before] = [performance.now(), loaded]
  const { rows } = await sql<{ first: number; last: number }>`select min(seq) as first, max(seq) as last from item`.execute(db)
  const { first, last } = rows[0]!
  const step = last - first + 1
  for (let turn = 1; loaded < upTo; turn++, loaded += before) {
    const shift = sql.lit(`${turn * 11} days ${turn * 37} minutes`)
    await db.transaction().execute(async (tx) => {
      await sql`insert into item (seq, id, org_id, project_id, collection_id, stac_id, type, name, geometry, bbox, footprint, cells,
          datetime, cloud_cover, gsd, properties, stac_extensions, created_at, updated_at) overriding system value
        select seq + ${sql.lit(turn * step)}, id || '_' || ${sql.lit(turn)}, org_id, project_id, collection_id,
          id || '_' || ${sql.lit(turn)}, type, name, geometry, bbox, footprint, cells, datetime + ${shift}::interval,
          (cloud_cover * 7 + ${sql.lit(turn)})::numeric % 100,
          gsd, properties, stac_extensions, created_at, updated_at from item where seq <= ${sql.lit(last)}`.execute(tx)
      await sql`insert into item_cell select org_id, cell, datetime + ${shift}::interval, seq + ${sql.lit(turn * step)}, x0, y0, x1, y1
        from item_cell where seq <= ${sql.lit(last)}`.execute(tx)
      await sql`insert into asset (id, org_id, item_seq, key, title, media_type, roles, href, raster, created_at, updated_at)
        select gen_random_uuid(), org_id, item_seq + ${sql.lit(turn * step)}, key, title, media_type, roles, href, raster,
          created_at, updated_at from asset where item_seq <= ${sql.lit(last)}`.execute(tx)
      await sql`update project set item_count = item_count + ${sql.lit(before)}`.execute(tx)
    })
  }
  for (const table of ['item', 'item_cell', 'asset']) await sql`vacuum analyze ${sql.table(table)}`.execute(db)
  await sql`select setval(pg_get_serial_sequence('item', 'seq'), (select max(seq) from item))`.execute(db)
  console.log(`grown to ${loaded} items by revisits in ${((performance.now() - began) / 1000).toFixed(0)} s; load average ${loadAverage()}`)
  await database.close()
  await server.leave()
}

type Draft = (draw: () => number) => object

const place = (r: () => number, size: number): [number, number, number, number] => {
  const [x, y] = r() < 0.7 ? [-10 + r() * 40, 36 + r() * 22] : [-170 + r() * 340, -65 + r() * 130]
  return [Math.max(-180, x - size / 2), Math.max(-90, y - size / 2), Math.min(180, x + size / 2), Math.min(90, y + size / 2)]
}
const month = (r: () => number, days = 30): string => {
  const from = Date.UTC(2021, 0, 1) + r() * 1_700 * DAY_MS
  return `${new Date(from).toISOString()}/${new Date(from + days * DAY_MS).toISOString()}`
}
const triangle = (r: () => number) => {
  const [w, s, e, n] = place(r, 0.5 + 9 * r())
  return {
    type: 'Polygon',
    coordinates: [
      [
        [w, s],
        [e, s],
        [(w + e) / 2, n],
        [w, s],
      ],
    ],
  }
}
const op = (name: string, ...args: unknown[]) => ({ op: name, args })
const property = (name: string) => ({ property: name })

/** What is asked, by name; each draft gives another query of its kind. */
const ROWS: Readonly<Record<string, Draft>> = {
  'city box, month': (r) => ({ bbox: place(r, 0.3 + 0.7 * r()), datetime: month(r) }),
  'country box, month': (r) => ({ bbox: place(r, 5 + 10 * r()), datetime: month(r) }),
  'country box': (r) => ({ bbox: place(r, 5 + 10 * r()) }),
  'continent box, year': (r) => ({ bbox: place(r, 30 + 60 * r()), datetime: month(r, 365) }),
  polygon: (r) => ({ intersects: triangle(r) }),
  'cql2 on properties': (r) => ({
    filter: op('and', op('=', property('platform'), 'sentinel-2a'), op('<', property('eo:cloud_cover'), Math.ceil(r() * 100))),
    'filter-lang': 'cql2-json',
  }),
  'cql2 in a box': (r) => ({
    bbox: place(r, 5 + 10 * r()),
    filter: op('<', property('eo:cloud_cover'), 20),
    'filter-lang': 'cql2-json',
  }),
  id: (r) => ({ ids: [`S2_${String(Math.floor(r() * SIZES[0]!)).padStart(8, '0')}`] }),
}

interface Side {
  ask(query: object): Promise<{ features: unknown[]; links: { rel: string; body?: object }[] }>
}

async function measure(side: Side, draft: Draft, limit: number): Promise<number[]> {
  const r = random(99)
  const times: number[] = []
  for (let i = 0; i < QUERIES + 3; i++) {
    const query = { limit, ...draft(r) }
    const began = performance.now()
    await side.ask(query)
    if (i >= 3) times.push(performance.now() - began) // The first few warm up what is warm in life.
  }
  return times
}

const row = (name: string, times: readonly number[], cpuMs: number | null, more = '') =>
  console.log(
    `| ${name} | ${[0.5, 0.95, 0.99].map((share) => percentile(times, share).toFixed(1)).join(' | ')} | ` +
      `${cpuMs === null ? '–' : (cpuMs / (times.length + 3)).toFixed(1)} |${more}`,
  )

async function table(service: Service, { key, collectionId }: Place, limit: number): Promise<void> {
  const ask = (query: object) => post(`${service.url}/stac/search`, { collections: [collectionId], ...query }, key)
  const operation = (query: object) => post(`${service.url}/v1/op/stac.search`, query, key)
  const cpu = () => treeCpuMs(service.process.pid!) + postgresCpuMs()
  console.log(`\n${loaded} items, pages of ${limit}, ${QUERIES} queries a row, warm, load average ${loadAverage()}\n`)
  console.log('| Search | p50 ms | p95 ms | p99 ms | CPU ms a query |\n|---|---|---|---|---|')
  const timed = async (name: string, side: Side, draft: Draft) => {
    const before = cpu()
    const times = await measure(side, draft, limit)
    row(name, times, cpu() - before)
  }
  for (const [name, draft] of Object.entries(ROWS)) await timed(name, { ask }, draft)
  const tokens = await deepTokens(ask)
  await timed('next page, 2,000 items deep', { ask }, (r) => ({ token: tokens[Math.floor(r() * tokens.length)] }))
  await timed('offset page, 10,000 items deep', { ask: operation }, (r) => ({ page: Math.floor(10_000 / limit), bbox: place(r, 60) }))
  await timed('matched count (operation)', { ask: operation }, (r) => ({ bbox: place(r, 5 + 10 * r()), limit: 1 }))
  if (values.peer) await peerTable(values.peer, limit)
}

async function deepTokens(ask: Side['ask']): Promise<string[]> {
  const tokens: string[] = []
  for (let i = 0; i < 3; i++) {
    let query: object = { limit: 1_000, bbox: place(random(i), 40) }
    for (let page = 0; page < 2; page++) {
      const next = (await ask(query)).links.find(({ rel }) => rel === 'next')
      if (!next) break
      query = next.body!
    }
    if ('token' in query) tokens.push(String(query.token))
  }
  return tokens
}

async function peerTable(url: string, limit: number): Promise<void> {
  const pids = values['peer-pids'].split(',').filter(Boolean).map(Number)
  const cpu = () => pids.reduce((sum, pid) => sum + treeCpuMs(pid), 0)
  console.log(
    `\nthe same of ${url}, load average ${loadAverage()}\n\n| Search | p50 ms | p95 ms | p99 ms | CPU ms a query |\n|---|---|---|---|---|`,
  )
  const ask = (query: object) => post(`${url}/search`, { collections: [values['peer-collection']], ...query })
  for (const [name, draft] of Object.entries(ROWS)) {
    const before = cpu()
    const times = await measure({ ask }, draft, limit)
    row(name, times, pids.length > 0 ? cpu() - before : null)
  }
}

/** The postmaster is its own leader, so its work is found by the folder that it serves. */
function postgresCpuMs(): number {
  const pid = Number(readFileSync(path.join(values.data, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
  return treeCpuMs(pid)
}

mkdirSync(values.data, { recursive: true })
let service = await start()
try {
  const kept = path.join(values.data, 'bench.json')
  const where: Place = existsSync(kept) ? JSON.parse(readFileSync(kept, 'utf8')) : await settle(service)
  if (existsSync(kept)) {
    // What an earlier run left with --keep is asked again as it is.
    loaded = SIZES.at(-1)!
    for (const limit of PAGES) await table(service, where, limit)
    SIZES.length = 0
  }
  writeFileSync(kept, JSON.stringify(where))
  for (const size of SIZES) {
    await service.stop()
    if (loaded === 0 || values.export) await load(where, size)
    else await revisit(size)
    service = await start()
    for (const limit of PAGES) await table(service, where, limit)
  }
} finally {
  await service.stop()
  if (!values.keep) rmSync(values.data, { recursive: true, force: true })
}
