/** The archive of `bench/items.ts`: invented items, loaded as an import loads them, and grown by revisits inside the database. */
import { createWriteStream } from 'node:fs'
import { sql } from 'kysely'
import { startEmbedded, SUPERUSER } from '#db/embedded.ts'
import { openDatabase } from '#db/open.ts'
import type { Db } from '#db/tables.ts'
import { copy } from '#model/imagery/item-copy.ts'
import { fromFeature } from '#model/imagery/stac-import.ts'
import { random, sceneAt, toStac } from './scenes.ts'

/** Where the items are, and how many; kept beside them. */
export interface Archive {
  organizationId: string
  projectId: string
  collectionId: string
  key: string
  items: number
  /** Of those, so many were drawn; the others are revisits of these. */
  scenes: number
}

interface Export {
  file: string
  collection: string
}

const BATCH = 5_000
const SEED = 7
const TABLES = ['item', 'item_cell', 'asset'] as const

async function withDatabase(dataDir: string, work: (db: Db) => Promise<void>): Promise<void> {
  const server = await startEmbedded(dataDir, { settings: ['maintenance_work_mem=1GB', 'max_wal_size=2GB'] })
  const database = openDatabase({ host: server.socketDir, user: SUPERUSER, database: 'postgres' }, { maxConnections: 1 })
  try {
    await sql`set statement_timeout = 0`.execute(database.db) // Of its one connection.
    await work(database.db)
  } finally {
    await database.close()
    await server.leave()
  }
}

/** Draws scenes until there are so many; each is the same in every archive. */
export async function load(dataDir: string, archive: Archive, upTo: number, exported: Export | null): Promise<void> {
  const { organizationId, projectId, collectionId } = archive
  const draw = random(SEED)
  for (let i = 0; i < archive.scenes; i++) sceneAt(i, draw)
  const out = exported ? createWriteStream(exported.file, { flags: archive.scenes === 0 ? 'w' : 'a' }) : null
  await withDatabase(dataDir, async (db) => {
    const [began, before] = [performance.now(), archive.scenes]
    const target = { organizationId, projectId, createdBy: null, now: new Date() }
    while (archive.scenes < upTo) {
      const count = Math.min(BATCH, upTo - archive.scenes)
      const features = Array.from({ length: count }, (_, i) => toStac(sceneAt(archive.scenes + i, draw)))
      out?.write(features.map((each) => `${JSON.stringify({ ...each, collection: exported!.collection })}\n`).join(''))
      const items = features.map((each) => fromFeature(each, collectionId, { canRead: () => false }))
      await db.transaction().execute((tx) => copy(tx, target, items))
      archive.scenes += count
    }
    archive.items += upTo - before
    const copied = (performance.now() - began) / 1000
    await settleTables(db)
    console.log(
      `loaded ${upTo - before} items in ${copied.toFixed(0)} s (${((upTo - before) / copied).toFixed(0)} items/s); ${await sizes(db)}`,
    )
  })
  out?.end()
}

/** The same footprints are seen again at other times, as satellites do. Indexes are taken away meanwhile and made anew. */
export async function revisit(dataDir: string, archive: Archive, upTo: number): Promise<void> {
  await withDatabase(dataDir, async (db) => {
    const [began, before] = [performance.now(), archive.items]
    const { rows } = await sql<{ first: number; last: number }>`select min(seq) as first, max(seq) as last from item`.execute(db)
    const { first, last } = rows[0]!
    const back = await withoutIndexes(db)
    await sql`set session_replication_role = replica`.execute(db) // What they refer to is there: it is that of the first visit.
    for (let turn = 1; archive.items < upTo; turn++) {
      const until = Math.min(last, first + (upTo - archive.items) - 1)
      await again(db, {
        name: `_${archive.items}`,
        by: turn * (last - first + 1),
        until,
        minutes: turn * (15_877 + Math.round(before / 1000)),
      })
      archive.items += until - first + 1
    }
    await sql`update project set item_count = ${archive.items} where id = ${archive.projectId}`.execute(db)
    await sql`select setval(pg_get_serial_sequence('item', 'seq'), (select max(seq) from item))`.execute(db)
    for (const statement of back) await sql.raw(statement).execute(db)
    await sql`set session_replication_role = origin`.execute(db)
    await settleTables(db)
    const seconds = (performance.now() - began) / 1000
    console.log(`grown from ${before} to ${archive.items} items by revisits in ${seconds.toFixed(0)} s; ${await sizes(db)}`)
  })
}

interface Visit {
  /** What the ids of these end with. */
  name: string
  /** Added to sequence numbers. */
  by: number
  /** The last sequence number that is seen again. */
  until: number
  minutes: number
}

async function again(db: Db, { name, by, until, minutes }: Visit): Promise<void> {
  const [later, further, upTo] = [sql`make_interval(mins => ${sql.lit(minutes)})`, sql.lit(by), sql.lit(until)]
  const id = sql`id || ${sql.lit(name)}`
  await db.transaction().execute(async (tx) => {
    await sql`insert into item (seq, id, org_id, project_id, collection_id, stac_id, type, name, geometry, bbox, footprint, cells,
        datetime, cloud_cover, gsd, properties, stac_extensions, created_at, updated_at) overriding system value
      select seq + ${further}, ${id}, org_id, project_id, collection_id, ${id}, type, ${id}, geometry, bbox, footprint, cells,
        datetime + ${later}, (cloud_cover * 7 + ${further})::numeric % 100, gsd, properties, stac_extensions, created_at, updated_at
      from item where seq <= ${upTo}`.execute(tx)
    await sql`insert into item_cell select org_id, cell, datetime + ${later}, seq + ${further}, x0, y0, x1, y1
      from item_cell where seq <= ${upTo}`.execute(tx)
    await sql`insert into asset (id, org_id, item_seq, key, title, media_type, roles, href, raster, created_at, updated_at)
      select gen_random_uuid(), org_id, item_seq + ${further}, key, title, media_type, roles, href, raster, created_at, updated_at
      from asset where item_seq <= ${upTo}`.execute(tx)
  })
}

/** All but those that other tables refer by; gives the statements that bring them back, in their order. */
async function withoutIndexes(db: Db): Promise<string[]> {
  const { rows } = await sql<{ drop: string; create: string }>`
    select case when c.conname is null then format('drop index %I', i.relname)
        else format('alter table %I drop constraint %I', t.relname, c.conname) end as drop,
      case when c.conname is null then pg_get_indexdef(i.oid)
        else format('alter table %I add constraint %I %s', t.relname, c.conname, pg_get_constraintdef(c.oid)) end as create
    from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
      left join pg_constraint c on c.conindid = i.oid and c.contype in ('p', 'u')
    where t.oid = any(array['item', 'item_cell', 'asset']::regclass[])
      and not exists (select from pg_constraint f where f.contype = 'f' and f.conindid = i.oid)
    order by i.relname`.execute(db)
  for (const { drop } of rows) await sql.raw(drop).execute(db)
  return rows.map(({ create }) => create)
}

async function settleTables(db: Db): Promise<void> {
  for (const table of TABLES) await sql`vacuum analyze ${sql.table(table)}`.execute(db)
}

async function sizes(db: Db): Promise<string> {
  const { rows } = await sql<{ size: string }>`
    select string_agg(relname || ' ' || pg_size_pretty(pg_total_relation_size(oid)), ', ' order by relname) as size
    from pg_class where oid = any(array['item', 'item_cell', 'asset']::regclass[])`.execute(db)
  return `on disk ${rows[0]!.size}`
}
