/**
 * The sides of `bench/service-tiles.ts`: our service, whose tiles are asked for as those of items or by the address of the file, and its
 * peers. Every copy of a case is a file of its own to all of them: a link to the same bytes.
 */
import { randomUUID } from 'node:crypto'
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { Agent, request } from 'node:http'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { createOwner, ok } from '../../test/support/client.ts'
import { embeddedUrl, postmasterOf, type Lab } from '../../test/support/service.ts'
import type { Case, Tile } from './cases.ts'
import { ownCpuMs, treeCpuMs } from './cpu.ts'
import { askFastcgi } from './fastcgi.ts'
import { serveFiles } from './file-server.ts'
import { dataFile, mapserverQuery, startMapserver, startTitiler } from './peers.ts'

export const FORMATS = ['png', 'webp', 'jpeg'] as const
export type Format = (typeof FORMATS)[number]
export const WAYS = ['item', 'address'] as const
export type Way = (typeof WAYS)[number]

const TITILER_PORT = 18_742
/** What TiTiler uses unless asked; MapServer is told the same. Ours is asked for it, because its defaults are finer. */
const QUALITY = { png: null, webp: 75, jpeg: 85 } as const

export interface Side {
  name: string
  /** Null for a peer. */
  way: Way | null
  fetch(item: Case, copy: number, tile: Tile, format: Format): Promise<number>
  cpuMs(): number
  /** The same by processes, where there are several kinds. */
  parts?: () => Record<string, number>
}

interface Setting {
  lab: Lab
  cases: readonly Case[]
  copies: number
  core: number
  ways: readonly Way[]
  /** A folder for profiles, or empty. */
  profile: string
  linkOf: (item: Case, copy: number) => string
  /** Run at the end. */
  stops: (() => unknown)[]
}

export const agent = new Agent({ keepAlive: true, maxSockets: 64 })

/** A server may close a connection that rested at the moment when it is used again: that is asked once more, on another. */
function fetchHttp(url: string, headers: Record<string, string> = {}, body?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers, method: body === undefined ? 'GET' : 'POST' }, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => (bytes += chunk.length))
      response.on('end', () => (response.statusCode === 200 ? resolve(bytes) : reject(new Error(`${response.statusCode} ${url}`))))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (sent.reusedSocket && error.code === 'ECONNRESET') resolve(fetchHttp(url, headers, body))
      else reject(error)
    })
    sent.end(body)
  })
}

/** One service; as many sides as there are ways to ask it. */
export async function startOurs(setting: Setting): Promise<Side[]> {
  const { lab, cases, core, ways, profile, stops } = setting
  const dataDir = lab.dataDir()
  const files = await serveFiles((asked) => {
    const [, file, copy] = /^\/([\w-]+)-(\d+)\.tif$/.exec(asked) ?? []
    const item = cases.find((each) => each.file === file)
    return item && Number(copy) < setting.copies ? setting.linkOf(item, Number(copy)) : undefined
  })
  stops.push(() => files.close())
  const service = await lab.start({
    core,
    env: { DATA_DIR: dataDir, DEMO: '0', STORE_PORT: '0', EGRESS_ALLOW: files.host },
    ...(profile ? { nodeOptions: ['--cpu-prof', `--cpu-prof-dir=${profile}`] } : {}),
  })
  const owner = await createOwner(service.baseUrl, 'bench@example.com')
  const ask = (id: string, input: object) => ok(service.baseUrl, owner.token, id, input)
  const { id: project_id } = await ask('projects.create', { name: 'Bench' })
  const { key } = await ask('api_keys.create', { name: 'bench', permissions: ['read'], rate_limit: 2_000_000_000 })
  const items = new Map<string, string[]>()
  if (ways.includes('item')) {
    const client = new pg.Client({ connectionString: embeddedUrl(dataDir) })
    await client.connect()
    await client.query("update organization set plan_id = 'business'") // Room for a link to each file and round.
    for (const file of new Set(cases.map(({ file }) => file)))
      items.set(file, await copiesOf(ask, client, { dataDir, project_id, file, count: setting.copies }))
    await client.end()
  }
  const postmaster = postmasterOf(dataDir)!.pid
  if (profile) stops.unshift(() => process.kill(service.pid, 'SIGTERM'))
  const headers = { authorization: `Bearer ${key}` }
  const common = {
    cpuMs: () => treeCpuMs(service.pid, [postmaster]) + treeCpuMs(postmaster),
    parts: () => ({ service: ownCpuMs(service.pid), tree: treeCpuMs(service.pid, [postmaster]), database: treeCpuMs(postmaster) }),
  }
  const asked: Record<Way, Side['fetch']> = {
    item: ({ file, ours }, copy, { z, x, y }, format) =>
      fetchHttp(
        `${service.baseUrl}/api/v1/items/${items.get(file)![copy]}/tiles/${z}/${x}/${y}.${format}?${ours}${qualityOf(format)}`,
        headers,
      ),
    address: ({ file, ours }, copy, tile, format) => {
      const style = Object.fromEntries(new URLSearchParams(ours))
      const quality = QUALITY[format] === null ? {} : { quality: QUALITY[format] }
      const input = { url: `http://${files.host}/${file}-${copy}.tif`, ...tile, format, ...style, ...quality }
      return fetchHttp(
        `${service.baseUrl}/v1/op/cog.tile.render`,
        { ...headers, 'content-type': 'application/json' },
        JSON.stringify(input),
      )
    },
  }
  return ways.map((way) => ({ name: way === 'item' ? 'ours' : 'ours by address', way, fetch: asked[way], ...common }))
}

const qualityOf = (format: Format): string => (QUALITY[format] === null ? '' : `&quality=${QUALITY[format]}`)

type Ask = (id: string, input: object) => ReturnType<typeof ok>

/** Uploads a file as anybody does, then makes items of it whose objects are links to the same bytes. */
async function copiesOf(
  ask: Ask,
  client: pg.Client,
  { dataDir, project_id, file, count }: { dataDir: string; project_id: string; file: string; count: number },
): Promise<string[]> {
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
  while (ids.length < count) ids.push((await ask('items.duplicate', { item_id })).id)
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

export function startTitilerSide({ core, linkOf, stops }: Setting): Side {
  const child = startTitiler(TITILER_PORT, core)
  stops.push(() => child.kill())
  return {
    name: 'TiTiler',
    way: null,
    fetch: (item, copy, { z, x, y }, format) =>
      fetchHttp(
        `http://127.0.0.1:${TITILER_PORT}/cog/tiles/WebMercatorQuad/${z}/${x}/${y}.${format}?url=${linkOf(item, copy)}&tilesize=256&` +
          `${item.peer}`,
      ),
    cpuMs: () => treeCpuMs(child.pid!),
  }
}

export function startMapserverSide({ cases, copies, core, linkOf, stops }: Setting): Side {
  const layers = cases.flatMap((item, index) =>
    item.mapserver
      ? Array.from({ length: copies }, (_, copy) => ({ name: `l${index}_${copy}`, file: linkOf(item, copy), ...item.mapserver! }))
      : [],
  )
  const { process: child, socket } = startMapserver(layers, core)
  stops.push(
    () => child.kill('SIGKILL'),
    () => rmSync(path.dirname(socket), { recursive: true, force: true }),
  )
  return {
    name: 'MapServer',
    way: null,
    fetch: async (item, copy, tile, format) =>
      (await askFastcgi(socket, mapserverQuery(`l${cases.indexOf(item)}_${copy}`, tile, format))).length,
    cpuMs: () => treeCpuMs(child.pid!),
  }
}
