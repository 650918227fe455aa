/**
 * Search of many items over HTTP: bbox with time, polygons, CQL2, ids, deep pages, counts; as the archive grows. Items are invented
 * and loaded by `COPY`; what is there already is gone on from. Several folders are asked one after the other, each as it is.
 * With `--peer-folder` (made by bench/items-peer.sh) the same queries go to pgstac and stac-fastapi, row by row beside ours.
 *
 *     npm run bench:items -- --sizes 100000,1000000,10000000 --data /tmp/items --keep
 *     npm run bench:items -- --sizes 1000000 --data /tmp/items --keep --export /tmp/items.ndjson   # the same items for a peer
 *     npm run bench:items -- --data /tmp/items --keep --peer-folder /tmp/peer
 *     npm run bench:items -- --data /tmp/small,/tmp/items,/tmp/large --keep
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { load, revisit, type Archive } from './lib/archive.ts'
import { START_FLAGS } from '../test/support/service.ts'
import { treeCpuMs } from './lib/cpu.ts'
import { percentile, random } from './lib/scenes.ts'

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '' },
    queries: { type: 'string', default: '60' },
    warm: { type: 'string', default: '40' },
    pages: { type: 'string', default: '10,100' },
    data: { type: 'string', default: path.join(os.tmpdir(), `groundtrack-bench-items-${process.pid}`) },
    keep: { type: 'boolean', default: false },
    export: { type: 'string' },
    'peer-folder': { type: 'string' },
    'peer-port': { type: 'string', default: '8099' },
  },
})
const FOLDERS = values.data.split(',')
const QUERIES = Number(values.queries)
const WARM = Number(values.warm)
const PAGES = values.pages.split(',').map(Number)
const PEER_COLLECTION = 'scenes'
const DAY_MS = 86_400_000
const loadAverage = () => readFileSync('/proc/loadavg', 'utf8').split(' ').slice(0, 2).join(' ')

interface Service {
  url: string
  process: ChildProcess
  stop(): Promise<void>
}

async function start(dataDir: string): Promise<Service> {
  const main = path.join(import.meta.dirname, '../src/main.ts')
  const env = { ...process.env, DATA_DIR: dataDir, PORT: '0', DATABASE_URL: '', DEMO: '0', LOG_LEVEL: 'error' }
  return await started(process.execPath, [...START_FLAGS, main], env, /Service\s+(http\S+)/)
}

async function startPeer(folder: string): Promise<Service> {
  const script = path.join(import.meta.dirname, 'items-peer.sh')
  return await started('bash', [script, values.export ?? '/dev/null', folder, values['peer-port']], process.env, /peer at (http\S+)/)
}

async function started(command: string, args: readonly string[], env: NodeJS.ProcessEnv, said: RegExp): Promise<Service> {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const match = said.exec(text)
      if (match) resolve(match[1]!)
    })
    child.once('exit', () => reject(new Error(`${command} did not start: ${text}`)))
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
async function settle({ url }: Service): Promise<Archive> {
  const person = { email: `bench-${Date.now()}@example.com`, password: 'correct horse battery', name: 'Bench' }
  const first = await post(`${url}/auth/sign-up`, person)
  const org = await post(`${url}/v1/op/organizations.create`, { name: 'Bench' }, first.access_token)
  const { access_token: token } = await post(`${url}/auth/refresh`, { refresh_token: first.refresh_token, organization_id: org.id })
  const project = await post(`${url}/v1/op/projects.create`, { name: 'Bench' }, token)
  const collection = await post(`${url}/v1/op/collections.create`, { project_id: project.id, name: 'Scenes' }, token)
  const { key } = await post(`${url}/v1/op/api_keys.create`, { name: 'bench', permissions: ['read'], rate_limit: 100_000_000 }, token)
  return { organizationId: org.id, projectId: project.id, collectionId: collection.id, key, items: 0, scenes: 0 }
}

/** A query from numbers between 0 and 1; `scenes` is how many ids there are to ask for. */
type Draft = (draw: () => number, scenes: number) => object

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
  id: (r, scenes) => ({ ids: [`S2_${String(Math.floor(r() * scenes)).padStart(8, '0')}`] }),
}

interface Side {
  ask(query: object): Promise<{ features: unknown[]; links: { rel: string; body?: object }[] }>
  /** Of everything that answers: the service and its database. */
  cpuMs(): number
}

interface Asked {
  side: Side
  draft: Draft
  limit: number
  scenes: number
}

const WARM_SEED = 5
const ASKED_SEED = 99

/** What is asked again is not what warmed up; but what is warm in life is warm. */
async function measure({ side, draft, limit, scenes }: Asked, count: number, seed: number): Promise<number[]> {
  const r = random(seed)
  const times: number[] = []
  for (let i = 0; i < count; i++) {
    const query = { limit, ...draft(r, scenes) }
    const began = performance.now()
    await side.ask(query)
    times.push(performance.now() - began)
  }
  return times
}

/** What was seen, in the order of the tables: by search, and within it by column. */
const seen = new Map<string, Map<string, number[]>>()

async function timed(column: string, name: string, asked: Asked): Promise<string> {
  await measure(asked, 3, WARM_SEED)
  const before = asked.side.cpuMs()
  const times = await measure(asked, QUERIES, ASKED_SEED)
  const cpuMs = (asked.side.cpuMs() - before) / QUERIES
  const row = `${name}, pages of ${asked.limit}`
  seen.set(row, (seen.get(row) ?? new Map<string, number[]>()).set(column, times))
  return `${[0.5, 0.95, 0.99, 1].map((share) => percentile(times, share).toFixed(1)).join(' | ')} | ${cpuMs.toFixed(1)} |`
}

/** The same searches of us by the operation's own words where the STAC API has none. */
function deepRows(limit: number, tokens: readonly string[]): Record<string, { draft: Draft; isOperation: boolean }> {
  return {
    'next page, 2,000 items deep': { draft: (r) => ({ token: tokens[Math.floor(r() * tokens.length)] }), isOperation: false },
    'offset page, 10,000 items deep': {
      draft: (r) => ({ page: Math.floor(10_000 / limit), bbox: place(r, 60) }),
      isOperation: true,
    },
    'matched count (operation)': { draft: (r) => ({ bbox: place(r, 5 + 10 * r()), limit: 1 }), isOperation: true },
  }
}

interface Sides {
  facade: Side
  operation: Side
  peer: Side | null
}

async function table({ facade, operation, peer }: Sides, { items, scenes }: Archive, limit: number): Promise<void> {
  const column = items.toLocaleString('en')
  console.log(`\n${column} items, pages of ${limit}, ${QUERIES} queries a row, warm, load average ${loadAverage()}\n`)
  console.log('| Search | p50 ms | p95 ms | p99 ms | most ms | CPU ms a query |\n|---|---|---|---|---|---|')
  for (const [name, draft] of Object.entries(ROWS)) {
    console.log(`| ${name} | ${await timed(column, name, { side: facade, draft, limit, scenes })}`)
    if (peer) console.log(`| – the peer | ${await timed(PEER_COLUMN, name, { side: peer, draft, limit, scenes })}`)
  }
  for (const [name, { draft, isOperation }] of Object.entries(deepRows(limit, await deepTokens(facade.ask))))
    console.log(`| ${name} | ${await timed(column, name, { side: isOperation ? operation : facade, draft, limit, scenes })}`)
}

const PEER_COLUMN = 'peer'

/** Each search in one row, each size of the archive in a column: what it costs as items grow. */
function summary(): void {
  const columns = [...new Set([...seen.values()].flatMap((each) => [...each.keys()]))].filter((each) => each !== PEER_COLUMN)
  const hasPeer = [...seen.values()].some((each) => each.has(PEER_COLUMN))
  const [last, heads] = [columns.at(-1)!, [...columns, ...(hasPeer ? [PEER_COLUMN, 'peer / ours, p95'] : [])]]
  console.log(
    `\nAs items grow: p50 / p95 ms, load average ${loadAverage()}\n\n` +
      `| Search | ${heads.join(' | ')} |\n|---|${'---|'.repeat(heads.length)}`,
  )
  for (const [name, byColumn] of seen) {
    const cell = (column: string) => {
      const times = byColumn.get(column)
      return times ? `${percentile(times, 0.5).toFixed(1)} / ${percentile(times, 0.95).toFixed(1)}` : '–'
    }
    const [ours, theirs] = [byColumn.get(last), byColumn.get(PEER_COLUMN)]
    const ratio = ours && theirs ? `${(percentile(theirs, 0.95) / percentile(ours, 0.95)).toFixed(1)} ×` : '–'
    console.log(`| ${name} | ${[...columns.map(cell), ...(hasPeer ? [cell(PEER_COLUMN), ratio] : [])].join(' | ')} |`)
  }
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

/** A postmaster is its own leader, so its work is found by the folder that it serves. */
function postgresCpuMs(folder: string): number {
  return treeCpuMs(Number(readFileSync(path.join(folder, 'postmaster.pid'), 'utf8').split('\n')[0]))
}

function sidesOf(folder: string, service: Service, { key, collectionId }: Archive, peer: Service | null): Sides {
  const cpuMs = () => treeCpuMs(service.process.pid!) + postgresCpuMs(path.join(folder, 'postgres'))
  const peerFolder = values['peer-folder']!
  const peerCpuMs = () =>
    treeCpuMs(Number(readFileSync(path.join(peerFolder, 'uvicorn.pid'), 'utf8'))) + postgresCpuMs(path.join(peerFolder, 'pg'))
  return {
    facade: { ask: (query) => post(`${service.url}/stac/search`, { collections: [collectionId], ...query }, key), cpuMs },
    operation: { ask: (query) => post(`${service.url}/v1/op/stac.search`, query, key), cpuMs },
    peer: peer ? { ask: (query) => post(`${peer.url}/search`, { collections: [PEER_COLLECTION], ...query }), cpuMs: peerCpuMs } : null,
  }
}

/** Asks an archive as it is. What has just started is slow at first, as is whatever runs for the first time: that is not looked at. */
async function ask(folder: string, archive: Archive, peer: Service | null): Promise<void> {
  const service = await start(folder)
  try {
    const sides = sidesOf(folder, service, archive, peer)
    const [limit, scenes] = [Math.max(...PAGES), archive.scenes]
    for (const side of [sides.facade, ...(sides.peer ? [sides.peer] : [])])
      for (const draft of Object.values(ROWS)) await measure({ side, draft, limit, scenes }, WARM, WARM_SEED)
    for (const each of PAGES) await table(sides, archive, each)
  } finally {
    await service.stop()
  }
}

const noteOf = (folder: string) => path.join(folder, 'bench.json')

async function archiveIn(folder: string): Promise<Archive> {
  if (existsSync(noteOf(folder))) return JSON.parse(readFileSync(noteOf(folder), 'utf8')) as Archive
  mkdirSync(folder, { recursive: true })
  const service = await start(folder)
  try {
    return await settle(service)
  } finally {
    await service.stop()
  }
}

/** Up to the first size items are drawn, or to every size where they are exported; beyond, they are seen again. */
async function grow(folder: string, archive: Archive, size: number): Promise<void> {
  if (size < archive.items) throw new Error(`${folder} has ${archive.items} items already`)
  if (size === archive.items) return
  const exported = values.export ? { file: values.export, collection: PEER_COLLECTION } : null
  if (archive.items === 0 || exported) await load(folder, archive, size, exported)
  else await revisit(folder, archive, size)
  writeFileSync(noteOf(folder), JSON.stringify(archive))
}

const peer = values['peer-folder'] ? await startPeer(values['peer-folder']) : null
try {
  for (const folder of FOLDERS) {
    const archive = await archiveIn(folder)
    const sizes = values.sizes === '' ? [archive.items || 100_000] : values.sizes.split(',').map(Number)
    for (const size of sizes) {
      await grow(folder, archive, size)
      await ask(folder, archive, peer)
    }
  }
  summary()
} finally {
  await peer?.stop()
  if (!values.keep) for (const folder of FOLDERS) rmSync(folder, { recursive: true, force: true })
}
