/**
 * Tiles of items through the whole service by HTTP, with a key, its rate limit, access control, usage and audit, against TiTiler
 * and MapServer by FastCGI, which have none of that, on the very files that were uploaded. All sides run on one and the same core
 * and take turns; CPU is that of every process of a side, PostgreSQL's included.
 *
 * A `session` pans over a file that nobody has looked at, `scattered` tiles share no block with the one before, `repeated` asks for
 * one tile again and again. Every round of a cold workload has a file of its own on every side: a link to the same bytes.
 *
 * `--parts` tells where our CPU goes, `--alone` leaves the peers out.
 *
 *   npm run bench:service-tiles -- --rounds 3 --clients 1,8 --core 1 --only "webp session UTM" --profile /tmp/profile
 */
import { randomUUID } from 'node:crypto'
import { copyFileSync, linkSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { Agent, request } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { found, ok } from '../test/support/client.ts'
import { embeddedUrl, openLab, postmasterOf } from '../test/support/service.ts'
import { CASES, tilesOf, WORKLOADS, type Case, type Tile, type Workload } from './lib/cases.ts'
import { median, ownCpuMs, treeCpuMs } from './lib/cpu.ts'
import { askFastcgi } from './lib/fastcgi.ts'
import { dataFile, hasMapserver, mapserverQuery, preparePeers, startMapserver, startTitiler } from './lib/peers.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    clients: { type: 'string', default: '1' },
    core: { type: 'string', default: String(os.availableParallelism() - 1) },
    only: { type: 'string', default: '' },
    profile: { type: 'string', default: '' },
    parts: { type: 'boolean', default: false },
    alone: { type: 'boolean', default: false },
  },
})
const ROUNDS = Number(values.rounds)
const CLIENTS = values.clients.split(',').map(Number)
const CORE = Number(values.core)
const TITILER_PORT = 18_742
const START_DEADLINE_MS = 60_000
const FORMATS = ['png', 'webp', 'jpeg'] as const
type Format = (typeof FORMATS)[number]

/** Of a kind of words, those that were named, or all. */
const words = values.only.split(' ').filter(Boolean)
const chosen = <W extends string>(all: readonly W[]): readonly W[] => {
  const given = all.filter((word) => words.includes(word))
  return given.length > 0 ? given : all
}
const named = words.filter((word) => ![...FORMATS, ...WORKLOADS].includes(word as Format))
const cases = CASES.filter(({ name }) => named.length === 0 || named.some((word) => name.includes(word)))
const workloads = chosen(WORKLOADS)
/** One file a cold cell: the first only warms up. */
const COPIES = 1 + ROUNDS * chosen(FORMATS).length * CLIENTS.length * workloads.filter((workload) => workload !== 'repeated').length

interface Side {
  name: string
  fetch(item: Case, copy: number, tile: Tile, format: Format): Promise<number>
  cpuMs(): number
  /** The same by processes, where there are several kinds. */
  parts?: () => Record<string, number>
}

const lab = openLab()
const links = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-links-'))
const stops: (() => void)[] = [() => rmSync(links, { recursive: true, force: true })]
const agent = new Agent({ keepAlive: true, maxSockets: Math.max(...CLIENTS) })

const linkOf = (item: Case, copy: number): string => path.join(links, `${item.file}-${copy}.tif`)

function fetchHttp(url: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers }, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => (bytes += chunk.length))
      response.on('end', () => (response.statusCode === 200 ? resolve(bytes) : reject(new Error(`${response.statusCode} ${url}`))))
    })
    sent.on('error', reject)
    sent.end()
  })
}

async function startOurs(): Promise<Side> {
  const dataDir = lab.dataDir()
  const service = await lab.start({
    core: CORE,
    env: { DATA_DIR: dataDir, DEMO: '0', STORE_PORT: '0' },
    ...(values.profile ? { nodeOptions: ['--cpu-prof', `--cpu-prof-dir=${values.profile}`] } : {}),
  })
  const owner = await found(service.baseUrl, 'bench@example.com')
  const ask = (id: string, input: object) => ok(service.baseUrl, owner.token, id, input)
  const { id: project_id } = await ask('projects.create', { name: 'Bench' })
  const { key } = await ask('api_keys.create', { name: 'bench', permissions: ['read'], rate_limit: 2_000_000_000 })
  const client = new pg.Client({ connectionString: embeddedUrl(dataDir) })
  await client.connect()
  await client.query("update organization set plan_id = 'business'") // Room for a link to each file and round.
  const items = new Map<string, string[]>()
  for (const file of new Set(cases.map(({ file }) => file))) items.set(file, await copies(ask, client, { dataDir, project_id, file }))
  await client.end()
  const postmaster = postmasterOf(dataDir)!.pid
  if (values.profile) stops.unshift(() => process.kill(service.pid, 'SIGTERM'))
  return {
    name: 'ours',
    fetch: ({ file, ours }, copy, { z, x, y }, format) =>
      fetchHttp(`${service.baseUrl}/api/v1/items/${items.get(file)![copy]}/tiles/${z}/${x}/${y}.${format}?${ours}`, {
        authorization: `Bearer ${key}`,
      }),
    cpuMs: () => treeCpuMs(service.pid, [postmaster]) + treeCpuMs(postmaster),
    parts: () => ({ service: ownCpuMs(service.pid), tree: treeCpuMs(service.pid, [postmaster]), database: treeCpuMs(postmaster) }),
  }
}

type Ask = (id: string, input: object) => ReturnType<typeof ok>

/** Uploads a file as anybody does, then makes items of it whose objects are links to the same bytes. */
async function copies(ask: Ask, client: pg.Client, { dataDir, project_id, file }: { dataDir: string; project_id: string; file: string }) {
  const bytes = readFileSync(dataFile(file))
  const { id: upload_id } = await ask('uploads.initiate', { project_id, total_bytes: bytes.length })
  const { upload_url } = await ask('uploads.signed_url', { upload_id, file_name: `${file}.tif`, content_type: 'image/tiff' })
  const put = await fetch(upload_url, { method: 'PUT', headers: { 'content-type': 'image/tiff' }, body: bytes })
  if (put.status !== 200) throw new Error(`the store answered ${put.status}`)
  const { item_ids } = await ask('uploads.complete', { upload_id })
  for (;;) {
    const { files } = await ask('uploads.progress', { upload_id })
    if (files[0].state === 'ready') break
    if (files[0].state !== 'converting') throw new Error(files[0].error)
    await sleep(100)
  }
  const item_id: string = item_ids[0]
  const ids = [item_id]
  while (ids.length < COPIES) ids.push((await ask('items.duplicate', { item_id })).id)
  for (const id of ids.slice(1)) {
    const { rows } = await client.query('select a.bucket, a.object_key from asset a join item i on i.seq = a.item_seq where i.id = $1', [
      id,
    ])
    const { bucket, object_key } = rows[0] as { bucket: string; object_key: string }
    const copy = `assets/${randomUUID()}/${path.basename(object_key)}`
    const [from, to] = [object_key, copy].map((at) => path.join(dataDir, 'objects', bucket, path.dirname(at))) as [string, string]
    mkdirSync(to)
    for (const name of readdirSync(from)) linkSync(path.join(from, name), path.join(to, name))
    await client.query('update asset a set object_key = $1 from item i where i.seq = a.item_seq and i.id = $2', [copy, id])
  }
  const { rows } = await client.query('select a.bucket, a.object_key from asset a join item i on i.seq = a.item_seq where i.id = $1', [
    item_id,
  ])
  const folder = path.join(dataDir, 'objects', rows[0].bucket, path.dirname(rows[0].object_key))
  const stored = Math.max(...readdirSync(folder).map((name) => statSync(path.join(folder, name)).size))
  console.log(`${file}: uploaded ${(bytes.length / 1e6).toFixed(1)} MB, stored ${(stored / 1e6).toFixed(1)} MB`)
  return ids
}

function startTitilerSide(): Side {
  const child = startTitiler(TITILER_PORT, CORE)
  stops.push(() => child.kill())
  return {
    name: 'TiTiler',
    fetch: (item, copy, { z, x, y }, format) =>
      fetchHttp(
        `http://127.0.0.1:${TITILER_PORT}/cog/tiles/WebMercatorQuad/${z}/${x}/${y}.${format}?url=${linkOf(item, copy)}&tilesize=256&` +
          `${item.peer}`,
      ),
    cpuMs: () => treeCpuMs(child.pid!),
  }
}

function startMapserverSide(): Side {
  const layers = cases.flatMap((item, index) =>
    item.mapserver
      ? Array.from({ length: COPIES }, (_, copy) => ({ name: `l${index}_${copy}`, file: linkOf(item, copy), ...item.mapserver! }))
      : [],
  )
  const { process: child, socket } = startMapserver(layers, CORE)
  stops.push(
    () => child.kill(),
    () => rmSync(path.dirname(socket), { recursive: true, force: true }),
  )
  return {
    name: 'MapServer',
    fetch: async (item, copy, tile, format) =>
      (await askFastcgi(socket, mapserverQuery(`l${cases.indexOf(item)}_${copy}`, tile, format))).length,
    cpuMs: () => treeCpuMs(child.pid!),
  }
}

interface Measured {
  cpuMs: number
  perSecond: number
  p95: number
  kilobytes: number
}

async function measure(side: Side, clients: number, asks: readonly (() => Promise<number>)[]): Promise<Measured> {
  const times: number[] = []
  const before = side.cpuMs()
  const partsBefore = side.parts?.()
  const began = performance.now()
  let [next, bytes] = [0, 0]
  const client = async (): Promise<void> => {
    while (next < asks.length) {
      const asked = performance.now()
      bytes += await asks[next++]!()
      times.push(performance.now() - asked)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  const seconds = (performance.now() - began) / 1000
  if (values.parts && partsBefore) {
    const after = side.parts!()
    const spent = Object.keys(after).map((part) => `${part} ${((after[part]! - partsBefore[part]!) / asks.length).toFixed(2)}`)
    console.log(`  ${side.name}, CPU ms a tile: ${spent.join(', ')}; ${seconds.toFixed(1)} s`)
  }
  return {
    cpuMs: (side.cpuMs() - before) / asks.length,
    perSecond: asks.length / seconds,
    p95: times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)]!,
    kilobytes: bytes / asks.length / 1024,
  }
}

async function untilUp(side: Side): Promise<void> {
  const item = cases[0]!
  const deadline = performance.now() + START_DEADLINE_MS
  for (;;) {
    try {
      await side.fetch(item, 0, tilesOf(item, 'repeated')[0]!, 'png')
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
      await sleep(200)
    }
  }
}

const show = (value: number): string => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0).padStart(8)

let usedCopies = 0

async function cell(sides: readonly Side[], at: { item: Case; format: Format; workload: Workload; clients: number }): Promise<void> {
  const { item, format, workload, clients } = at
  const able = sides.filter(({ name }) => name !== 'MapServer' || item.mapserver)
  const results = new Map<Side, Measured[]>(able.map((side) => [side, []]))
  for (let round = 0; round < ROUNDS; round++) {
    const copy = workload === 'repeated' ? 0 : ++usedCopies
    for (let i = 0; i < able.length; i++) {
      const side = able[(i + round) % able.length]! // Nobody is always first.
      const asks = tilesOf(item, workload).map((tile) => () => side.fetch(item, copy, tile, format))
      results.get(side)!.push(await measure(side, clients, asks))
    }
  }
  const of = (side: Side, pick: (one: Measured) => number): number => median(results.get(side)!.map(pick))
  const [ours, ...peers] = able as [Side, ...Side[]]
  const parts = able.map(
    (side) =>
      `${show(of(side, (one) => one.cpuMs))}${show(of(side, (one) => one.perSecond))}` +
      `${show(of(side, (one) => one.p95))}${show(of(side, (one) => one.kilobytes))}`,
  )
  const ratios = peers.map(
    (peer) =>
      `${show(
        of(peer, (one) => one.cpuMs) /
          Math.max(
            0.01,
            of(ours, (one) => one.cpuMs),
          ),
      )}×${show(of(ours, (one) => one.perSecond) / of(peer, (one) => one.perSecond))}×`,
  )
  console.log(
    `${item.name.padEnd(24)}${format.padEnd(6)}${workload.padEnd(10)}${String(clients).padEnd(3)}${parts.join(' |')} |${ratios.join(' ')}`,
  )
}

try {
  preparePeers()
  for (const item of cases)
    for (let copy = 0; copy < COPIES; copy++) {
      try {
        linkSync(dataFile(item.file), linkOf(item, copy))
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code === 'EXDEV') copyFileSync(dataFile(item.file), linkOf(item, copy))
        else if (code !== 'EEXIST') throw error // Two cases may show one file.
      }
    }
  const peers = values.alone ? [] : [startTitilerSide(), ...(hasMapserver() ? [startMapserverSide()] : [])]
  const sides = [await startOurs(), ...peers]
  for (const side of sides) await untilUp(side)
  console.log(
    `load average ${os
      .loadavg()
      .map((value) => value.toFixed(1))
      .join(' ')}, core ${CORE}, medians of ${ROUNDS} rounds`,
  )
  console.log(
    `for ${sides.map(({ name }) => name).join(', ')}: CPU ms a tile, tiles/s, p95 ms, KB; then for each peer: CPU and speed, times ours`,
  )
  for (const item of cases) {
    // Every path has run before it is measured, as in a service that has been up for a while.
    for (const format of chosen(FORMATS))
      for (const side of sides)
        if (side.name !== 'MapServer' || item.mapserver)
          for (const tile of tilesOf(item, 'session')) await side.fetch(item, 0, tile, format)
    usedCopies = 0
    for (const format of chosen(FORMATS))
      for (const workload of workloads) for (const clients of CLIENTS) await cell(sides, { item, format, workload, clients })
  }
} finally {
  agent.destroy()
  for (const stop of stops) stop()
  if (values.profile) await sleep(3_000)
  await lab.close()
}
