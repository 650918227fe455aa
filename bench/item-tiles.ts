/**
 * Tiles of an item, with its access control, usage and audit, against `cog.tile.render` of the same pixels: at most 15% more.
 *
 * One service, one file, one run; the two sides take turns. `drawn` rows ask for tiles that no cache holds, `kept` rows for the
 * same few again and again. CPU is that of the service, its drawing processes and PostgreSQL together.
 */
import { createServer } from 'node:http'
import { Agent, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { createOwner, ok } from '../test/support/client.ts'
import { scene, tileAt } from '../test/support/scene.ts'
import { embeddedUrl, openLab, postmasterOf } from '../test/support/service.ts'
import { median, treeCpuMs } from './lib/cpu.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '7' }, connections: { type: 'string', default: '8' } } })
const ROUNDS = Number(values.rounds)
const CONNECTIONS = Number(values.connections)
const TARGET = 0.15
const SIDE = 12
const KEPT_REQUESTS = 1_500
const KEPT_TILES = 16

interface Measured {
  cpuMs: number
  wallMs: number
  p50: number
}

const file = Buffer.from(
  await scene({ width: 2_048, height: 2_048, degrees: 0.0005, value: (band, x, y) => 300 * (band + 1) + ((x * 7 + y * 13) % 1_000) }),
)
const host = createServer((asked, response) => {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(asked.headers.range ?? '') ?? []
  const end = Math.min(Number(last), file.length - 1)
  response
    .writeHead(206, { etag: '"v1"', 'content-range': `bytes ${first}-${end}/${file.length}` })
    .end(file.subarray(Number(first), end + 1))
})
await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
const place = `127.0.0.1:${(host.address() as AddressInfo).port}`
const url = `http://${place}/scene.tif`

const lab = openLab()
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })

function send(address: URL, method: string, body: string | null, key: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    }
    const sent = request(address, { method, agent, headers }, (response) => {
      response.on('data', () => {})
      response.on('end', () =>
        response.statusCode === 200
          ? resolve(performance.now() - began)
          : reject(new Error(`${address.href} answered ${response.statusCode}`)),
      )
    })
    sent.on('error', reject)
    sent.end(body ?? undefined)
  })
}

try {
  const dataDir = lab.dataDir()
  const service = await lab.start({ env: { DATA_DIR: dataDir, DEMO: '0', LOG_LEVEL: 'info', EGRESS_ALLOW: place } })
  const owner = await createOwner(service.baseUrl, 'bench@example.com')
  const { id: projectId } = await ok(service.baseUrl, owner.token, 'projects.create', { name: 'Bench' })
  const { key } = await ok(service.baseUrl, owner.token, 'api_keys.create', {
    name: 'bench',
    permissions: ['read'],
    rate_limit: 2_000_000_000,
  })
  const { id: itemId } = await ok(service.baseUrl, owner.token, 'items.create', {
    project_id: projectId,
    type: 'user_raster',
    name: 'Bench',
    assets: [{ key: 'data', href: 'https://data.example/scene.tif' }],
  })
  const client = new pg.Client({ connectionString: embeddedUrl(dataDir) })
  await client.connect()
  await client.query('update asset set href = $1', [url]) // The same address on both sides; only a development host is plain http.
  await client.end()
  const { id: profile } = await ok(service.baseUrl, owner.token, 'visualization.profile.create', {
    item_id: itemId,
    name: 'Natural',
    type: 'rgb',
    config: { bands: [3, 2, 1], rescale: '0,3000' },
    is_default: true,
  })
  const postmaster = postmasterOf(dataDir)!.pid

  const middle = tileAt(151.5, -33.5, 12)
  const grid = Array.from({ length: SIDE * SIDE }, (_, i) => ({
    z: middle.z,
    x: middle.x - SIDE / 2 + (i % SIDE),
    y: middle.y - SIDE / 2 + Math.floor(i / SIDE),
  }))
  let drawing = 3_000
  /** A range that nobody has asked for: the same pixels to the eye, and in no cache. */
  const fresh = () => `0,${++drawing}`
  const post = (operation: string, input: object): [URL, string, string] => [
    new URL(`${service.baseUrl}/v1/op/${operation}`),
    'POST',
    JSON.stringify(input),
  ]
  type Ask = (tile: { z: number; x: number; y: number }, rescale: string) => [URL, string, string | null]
  const sides: { name: string; ask: Ask }[] = [
    {
      name: 'cog.tile.render',
      ask: (tile, rescale) => post('cog.tile.render', { url, ...tile, format: 'webp', quality: 82, bands: '3,2,1', rescale }),
    },
    {
      name: 'items.tile.render',
      ask: (tile, rescale) => post('items.tile.render', { item_id: itemId, ...tile, format: 'webp', quality: 82, profile, rescale }),
    },
    {
      name: 'GET …/tiles/{z}/{x}/{y}',
      ask: ({ z, x, y }, rescale) => [
        new URL(`${service.baseUrl}/api/v1/items/${itemId}/tiles/${z}/${x}/${y}.webp?profile=${profile}&rescale=${rescale}`),
        'GET',
        null,
      ],
    },
  ]
  const measure = async (asks: [URL, string, string | null][]): Promise<Measured> => {
    const cpu = () => treeCpuMs(service.pid, [postmaster]) + treeCpuMs(postmaster)
    const before = cpu()
    const began = performance.now()
    const times: number[] = []
    let next = 0
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        while (next < asks.length) times.push(await send(...asks[next++]!, key))
      }),
    )
    return { cpuMs: (cpu() - before) / asks.length, wallMs: (performance.now() - began) / asks.length, p50: median(times) }
  }

  for (const row of ['drawn', 'kept'] as const) {
    const measured = sides.map(() => [] as Measured[])
    for (let round = 0; round <= ROUNDS; round++) {
      const order = sides.map((_, index) => (index + round) % sides.length) // Nobody is always first.
      for (const index of order) {
        const { ask } = sides[index]!
        const rescale = fresh()
        const asks =
          row === 'drawn'
            ? grid.map((tile) => ask(tile, rescale))
            : Array.from({ length: KEPT_REQUESTS }, (_, i) => ask(grid[(i % KEPT_TILES) + 60]!, '0,3000'))
        const run = await measure(asks)
        if (round > 0) measured[index]!.push(run) // The first round only warms up.
      }
    }
    console.log(`${row}: ${ROUNDS} rounds, ${CONNECTIONS} connections, medians a tile`)
    const of = (index: number, pick: (run: Measured) => number) => median(measured[index]!.map(pick))
    sides.forEach(({ name }, index) => {
      const more = (pick: (run: Measured) => number) => `${((of(index, pick) / of(0, pick) - 1) * 100).toFixed(1)}%`
      const against =
        index === 0 ? '' : `  CPU ${more((run) => run.cpuMs)} more, time ${more((run) => run.wallMs)} more (target ≤ ${TARGET * 100}%)`
      console.log(
        `  ${name.padEnd(24)} CPU ${of(index, (run) => run.cpuMs).toFixed(3)} ms  time ` +
          `${of(index, (run) => run.wallMs).toFixed(3)} ms  p50 ${of(index, (run) => run.p50).toFixed(1)} ms${against}`,
      )
    })
  }
} finally {
  agent.destroy()
  host.closeAllConnections()
  host.close()
  await lab.close()
}
