/**
 * What a tile, a call, an item and a gigabyte cost: CPU time of the service and of PostgreSQL, bytes of its log, and rows written.
 *
 * CPU time comes from Linux's accounts, so that it hardly depends on what else the machine does. `npm run bench -- capacity` prints the
 * costs; with `--out tools/capacity/costs.json` it also writes the file that `node tools/capacity.ts` and docs/capacity.md use.
 */
import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { call, createOwner, ok } from '../test/support/client.ts'
import { scene, tileAt } from '../test/support/scene.ts'
import { startServerPostgres } from '../test/support/server-postgres.ts'
import { openLab } from '../test/support/service.ts'
import { COST_NAMES, type Cost, type CostName } from '../tools/capacity/model.ts'
import { treeCpuMs } from './lib/cpu.ts'

const { values } = parseArgs({
  options: {
    tiles: { type: 'string', default: '600' },
    calls: { type: 'string', default: '600' },
    items: { type: 'string', default: '4000' },
    megabytes: { type: 'string', default: '256' },
    out: { type: 'string' },
  },
})
const [TILES, CALLS, ITEMS, MEGABYTES] = [values.tiles, values.calls, values.items, values.megabytes].map(Number) as [
  number,
  number,
  number,
  number,
]
const BATCH = 500
const AT_ONCE = 4
/** Statistics of the server appear, and the service writes its counts, within this time. */
const SETTLE_MS = 8_000
const ZOOM = 14

const server = await startServerPostgres({ settings: ['autovacuum=off', 'checkpoint_timeout=1h', 'max_wal_size=8GB'] })
if (!server) throw new Error("This bench needs Debian's postgresql")
const lab = openLab()
try {
  const databaseUrl = await server.createDatabase('capacity')
  const service = await lab.start({
    env: { DATABASE_URL: databaseUrl, DATA_DIR: lab.dataDir(), DEMO: '0', SANDBOX: '0', LOG_LEVEL: 'error' },
  })
  const { baseUrl } = service
  const db = new pg.Client({ connectionString: databaseUrl })
  await db.connect()
  const { token } = await createOwner(baseUrl, 'owner@example.com')
  const { key } = await ok(baseUrl, token, 'api_keys.create', {
    name: 'bench',
    permissions: ['read', 'write', 'process'],
    rate_limit: 1_000_000,
  })
  const { id: project_id } = await ok(baseUrl, token, 'projects.create', { name: 'Capacity' })

  const upload = async (bytes: Uint8Array, name: string): Promise<string> => {
    const { id: upload_id } = await ok(baseUrl, key, 'uploads.initiate', { project_id, file_count: 1, total_bytes: bytes.byteLength })
    const { upload_url } = await ok(baseUrl, key, 'uploads.signed_url', { upload_id, file_name: name, content_type: 'image/tiff' })
    const put = await fetch(upload_url, {
      method: 'PUT',
      headers: { 'content-type': 'image/tiff' },
      body: bytes as Uint8Array<ArrayBuffer>,
    })
    if (!put.ok) throw new Error(`the store answered ${put.status}`)
    return (await ok(baseUrl, key, 'uploads.complete', { upload_id })).item_ids[0] as string
  }
  const state = async () => {
    const { rows } = await db.query<{ wal: string; rows: string; audit: string }>(`
      select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as wal,
        (select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_user_tables) as rows,
        (select count(*) from audit) as audit`)
    const [{ wal, rows: written, audit }] = rows as [(typeof rows)[number]]
    return {
      service: treeCpuMs(service.pid),
      database: treeCpuMs(server.pid),
      wal: Number(wal),
      rows: Number(written),
      audit: Number(audit),
    }
  }
  const costs = {} as Record<CostName, Cost>
  /** What the service does without being asked, such as polling, is measured first and subtracted. */
  const idle = { service: 0, database: 0, wal: 0, rows: 0, audit: 0 }
  const measure = async (name: CostName | 'idle', units: number, work: () => Promise<unknown>): Promise<void> => {
    await sleep(SETTLE_MS)
    const [before, began] = [await state(), performance.now()]
    await work()
    await sleep(SETTLE_MS)
    const [after, seconds] = [await state(), (performance.now() - began) / 1_000]
    const spent = (what: keyof typeof idle) => Math.max(0, after[what] - before[what] - idle[what] * seconds)
    if (name === 'idle') {
      for (const what of Object.keys(idle) as (keyof typeof idle)[]) idle[what] = spent(what) / seconds
      return
    }
    const each = (what: keyof typeof idle) => Number((spent(what) / units).toPrecision(3))
    costs[name] = {
      serviceCpuMs: each('service'),
      databaseCpuMs: each('database'),
      walBytes: each('wal'),
      rows: each('rows'),
      auditRows: each('audit'),
    }
    const { serviceCpuMs, databaseCpuMs, walBytes, rows, auditRows } = costs[name]
    const written = `${walBytes} bytes of log, ${rows} rows, ${auditRows} in the audit`
    console.log(`${name.padEnd(10)} ${serviceCpuMs} ms in the service, ${databaseCpuMs} ms in PostgreSQL, ${written}`)
  }
  /** Some at a time, as clients do. */
  const many = async (count: number, one: (n: number) => Promise<{ status: number; text: string }>): Promise<void> => {
    let next = 0
    const lane = async () => {
      for (let n = next++; n < count; n = next++) {
        const { status, text } = await one(n)
        if (status !== 200) throw new Error(text)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, lane))
  }

  const item_id = await upload(await scene({ width: 2_000, height: 2_000, degrees: 0.0001 }), 'scene.tif')
  const first = tileAt(151.02, -33.02, ZOOM)
  // Another range each time, so that no cache answers.
  const tile = (n: number) => ({ item_id, z: ZOOM, x: first.x + (n % 5), y: first.y + (n % 3), bands: '3,2,1', rescale: `0,${1_000 + n}` })
  await many(40, (n) => call(baseUrl, key, 'items.tile.render', tile(1e6 + n)))
  await measure('idle', 1, () => sleep(SETTLE_MS))
  await measure('tile', TILES, () => many(TILES, (n) => call(baseUrl, key, 'items.tile.render', tile(n))))
  await measure('read', CALLS, () => many(CALLS, () => call(baseUrl, key, 'items.get', { item_id })))
  await measure('write', CALLS, () => many(CALLS, (n) => call(baseUrl, key, 'collections.create', { project_id, name: `Collection ${n}` })))
  const feature = (n: number) => ({
    type: 'Feature',
    stac_version: '1.0.0',
    id: `scene-${n}`,
    geometry: {
      type: 'Polygon',
      coordinates: [
        [
          [n % 170, 1],
          [(n % 170) + 1, 1],
          [(n % 170) + 1, 2],
          [n % 170, 2],
          [n % 170, 1],
        ],
      ],
    },
    bbox: [n % 170, 1, (n % 170) + 1, 2],
    properties: { datetime: new Date(1.6e12 + n * 60_000).toISOString(), 'eo:cloud_cover': n % 100 },
    links: [],
    assets: { data: { href: `https://example.com/${n}.tif`, type: 'image/tiff; application=geotiff; profile=cloud-optimized' } },
  })
  await measure('item', ITEMS, async () => {
    for (let from = 0; from < ITEMS; from += BATCH) {
      const ndjson = Array.from({ length: Math.min(BATCH, ITEMS - from) }, (_, n) => JSON.stringify(feature(from + n))).join('\n')
      await ok(baseUrl, key, 'items.import_stac', { project_id, ndjson })
    }
  })
  await measure('listing', CALLS, () => many(CALLS, () => call(baseUrl, key, 'items.list', { project_id, limit: 100 })))
  // Noise does not compress: the bytes of the file are those of its pixels, and it is a COG already.
  const side = Math.round(Math.sqrt((MEGABYTES * 2 ** 20) / 2))
  const value = (_band: number, x: number, y: number) => (Math.imul(x * 31 + y * 17 + x * y, 2_654_435_761) >>> 16) & 0xffff
  const large = await scene({ width: side, height: side, degrees: 0.00001, bandNames: ['grey'], value })
  await measure('gigabyte', large.byteLength / 2 ** 30, () => upload(large, 'large.tif'))
  await db.end()
  if (values.out !== undefined) {
    const missing = COST_NAMES.filter((name) => !costs[name])
    if (missing.length > 0) throw new Error(`not measured: ${missing.join(', ')}`)
    writeFileSync(values.out, `${JSON.stringify(costs, null, 2)}\n`)
  }
} finally {
  await lab.close()
  await server.stop()
}
