/** Search of 200,000 items by small to continental boxes: the cell merge against a plain ordered query over the same table. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { newId } from '#core/ids.ts'
import { startEmbedded, SUPERUSER } from '#db/embedded.ts'
import { migrate } from '#db/migrate.ts'
import { openDatabase } from '#db/open.ts'
import type { Bbox } from '#model/imagery/footprint.ts'
import { all, duringInterval, touchesBoxes } from '#model/imagery/item-filter.ts'
import { MAX_EXACT_COUNT, search, type Search } from '#model/imagery/item-search.ts'
import { createSearchMemory } from '#model/imagery/search-memory.ts'
import * as items from '#model/imagery/item-read.ts'
import { placeOf } from '#model/imagery/item-place.ts'
import * as itemWrite from '#model/imagery/item-write.ts'
import { percentile, random, sceneAt } from './lib/scenes.ts'

const { values } = parseArgs({ options: { items: { type: 'string', default: '200000' }, queries: { type: 'string', default: '30' } } })
const [ITEMS, QUERIES] = [Number(values.items), Number(values.queries)]
const BATCH = 5_000
const PAGE = 10

const dataDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-bench-'))
const server = await startEmbedded(dataDir)
const database = openDatabase({ host: server.socketDir, user: SUPERUSER, database: 'postgres' })
const { db } = database
const memory = createSearchMemory()
const loadAverage = () => readFileSync('/proc/loadavg', 'utf8').split(' ').slice(0, 2).join(' ')

/** What one would write first: the same conditions, an order and a limit, and the planner free to choose. */
async function plain(wanted: Search): Promise<{ ids: string[]; matched: number }> {
  const where = all([
    sql<boolean>`i.org_id = ${wanted.organizationId}`,
    sql<boolean>`i.deleted_at is null`,
    ...(wanted.interval ? [duringInterval(wanted.interval)] : []),
    ...(wanted.bbox ? [touchesBoxes([wanted.bbox])] : []),
    ...wanted.query,
  ])
  const columns = sql.raw(items.COLUMNS.map((column) => `i.${column}`).join(', '))
  const page = await sql<items.Item>`
    select ${columns} from item i where ${where}
    order by i.datetime desc nulls last, i.seq limit ${wanted.limit}`.execute(db)
  const count = await sql<{
    n: number
  }>`select count(*) as n from (select 1 from item i where ${where} limit ${MAX_EXACT_COUNT + 1}) few`.execute(db)
  return { ids: page.rows.map(({ id }) => id), matched: count.rows[0]!.n }
}

async function seed(): Promise<string> {
  const [organizationId, projectId, now] = [newId(), newId(), new Date()]
  await db
    .insertInto('organization')
    .values({ id: organizationId, name: 'Bench', slug: 'bench', retention_since: now, created_at: now, updated_at: now })
    .execute()
  await db
    .insertInto('project')
    .values({ id: projectId, org_id: organizationId, name: 'Bench', visibility: 'organization', created_at: now, updated_at: now })
    .execute()
  const draw = random(7)
  for (let done = 0; done < ITEMS; done += BATCH) {
    const rows = Array.from({ length: BATCH }, (_, i): itemWrite.NewItem => {
      const scene = sceneAt(done + i, draw)
      return {
        ...placeOf({ type: 'Polygon', coordinates: [scene.ring] }, null),
        id: scene.id,
        stacId: scene.id,
        collectionId: null,
        type: 'external_reference',
        name: scene.id,
        description: null,
        datetime: scene.datetime,
        startDatetime: null,
        endDatetime: null,
        cloudCover: scene.cloudCover,
        gsd: 10,
        properties: { platform: scene.platform },
        stacExtensions: [],
        orderId: null,
        uploadId: null,
        jobId: null,
        assets: [],
      }
    })
    await db.transaction().execute((tx) => itemWrite.insert(tx, { organizationId, projectId, createdBy: null, now }, rows))
  }
  await sql`vacuum analyze item`.execute(db)
  await sql`vacuum analyze item_cell`.execute(db)
  return organizationId
}

const SIZES: Record<string, (draw: () => number) => number> = {
  small: (draw) => 0.05 + 0.15 * draw(),
  city: (draw) => 0.3 + 0.7 * draw(),
  country: (draw) => 5 + 10 * draw(),
  continent: (draw) => 30 + 60 * draw(),
}
const DAY_MS = 86_400_000

/** Mostly where there is something, sometimes anywhere; a month, a year or all of time. */
function draft(size: number, draw: () => number): { bbox: Bbox; interval: Search['interval'] } {
  const [x, y] = draw() < 0.7 ? [-10 + draw() * 40, 36 + draw() * 22] : [-170 + draw() * 340, -65 + draw() * 130]
  const bbox: Bbox = [Math.max(-180, x - size / 2), Math.max(-90, y - size / 2), Math.min(180, x + size / 2), Math.min(90, y + size / 2)]
  const span = draw()
  const from = new Date(Date.UTC(2021, 0, 1) + draw() * 1400 * DAY_MS)
  return {
    bbox,
    interval:
      span < 0.4
        ? { from, to: new Date(from.getTime() + 30 * DAY_MS) }
        : span < 0.7
          ? { from, to: new Date(from.getTime() + 365 * DAY_MS) }
          : null,
  }
}

try {
  await migrate(db)
  console.log(
    `${ITEMS} items of one organization, ${QUERIES} searches a row, page of ${PAGE} with its count, warm; embedded ` +
      `PostgreSQL, ${os.availableParallelism()} cores, load average ${loadAverage()}`,
  )
  const organizationId = await seed()
  console.log('search        merge p50 / p95 ms    plain p50 / p95 ms    plain / merge p50, p95')
  for (const [name, size] of Object.entries(SIZES)) {
    const draw = random(99)
    const [merged, scanned]: [number[], number[]] = [[], []]
    for (let i = 0; i < QUERIES; i++) {
      const wanted: Search = {
        organizationId,
        projectId: null,
        hiddenProjectIds: [],
        collectionIds: null,
        type: null,
        query: [],
        orders: [],
        limit: PAGE,
        offset: 0,
        ...draft(size(draw), draw),
      }
      const ids = (await search(db, memory, wanted)).items.map(({ id }) => id)
      const expected = await plain(wanted)
      if (JSON.stringify(ids) !== JSON.stringify(expected.ids)) throw new Error(`the two disagree on ${JSON.stringify(wanted)}`)
      let began = performance.now()
      await search(db, memory, wanted)
      merged.push(performance.now() - began)
      began = performance.now()
      await plain(wanted)
      scanned.push(performance.now() - began)
    }
    const [a, b, c, d] = [percentile(merged, 0.5), percentile(merged, 0.95), percentile(scanned, 0.5), percentile(scanned, 0.95)]
    const pair = (low: number, high: number) => `${low.toFixed(1).padStart(9)} / ${high.toFixed(1).padEnd(9)}`
    console.log(`${name.padEnd(12)}${pair(a, b)}${pair(c, d)}    ${(c / a).toFixed(1)} x, ${(d / b).toFixed(1)} x`)
  }
  const sizes = await sql<{ name: string; size: string }>`
    select relname as name, pg_size_pretty(pg_total_relation_size(oid)) as size
    from pg_class where relname in ('item', 'item_cell')`.execute(db)
  console.log(
    `both gave the same pages; on disk ${sizes.rows.map(({ name, size }) => `${name} ${size}`).join(', ')}; load average ${loadAverage()}`,
  )
} finally {
  await database.close()
  await server.leave()
  rmSync(dataDir, { recursive: true, force: true })
}
