import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { receiver } from '../../../test/support/receiver.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'

const ITEMS = 120

const feature = (nth: number) => ({
  type: 'Feature',
  id: `scene-${String(nth).padStart(4, '0')}`,
  geometry: { type: 'Point', coordinates: [nth / 10, 50] },
  properties: { datetime: '2026-02-01T00:00:00Z', title: `Scene "${nth}"\twith a \\ and a line\nbreak`, 'eo:cloud_cover': nth % 100 },
  assets: { visual: { href: `https://data.example/${nth}.tif`, type: 'image/tiff' } },
})

const importOf = async (w: World, org: Org, numbers: readonly number[]): Promise<void> => {
  const ndjson = numbers.map((nth) => JSON.stringify(feature(nth))).join('\n')
  const { created } = await w.ok(org.owner.token, 'items.import_stac', { project_id: org.projectId, ndjson })
  assert.equal(created, numbers.length)
}

/** Everything that an import writes, without what is new in each: IDs, times, and numbers that count all rows of a table. */
async function written(w: World, org: Org) {
  const { rows: items } = await sql`
    select i.id, i.name, i.geometry, i.bbox, i.footprint::text, i.cells, i.datetime, i.cloud_cover, i.properties, i.metadata_bytes,
      i.created_by = ${org.owner.id} as "isOwn", i.project_id = ${org.projectId} as "isThere",
      row_number() over (order by i.seq)::integer as nth,
      (select json_agg(json_build_array(c.cell, c.datetime, c.x0, c.y0, c.x1, c.y1)) from item_cell c where c.seq = i.seq) as cells,
      (select json_agg(json_build_array(a.key, a.href, a.media_type, a.ordinal)) from asset a where a.item_seq = i.seq) as assets
    from item i where i.org_id = ${org.id} order by i.seq
  `.execute(w.db)
  const { rows: lineage } = await sql`
    select s.entity_type, s.entity_id, s.project_id = ${org.projectId} as "isThere", e.relation, d.entity_type as origin,
      d.entity_id = ${org.projectId} as "isFromProject", e.invocation_id = s.invocation_id as "isOfOneCall",
      row_number() over (order by s.seq)::integer as nth
    from lineage_edge e join lineage_node s on s.seq = e.src_seq join lineage_node d on d.seq = e.dst_seq
    where s.org_id = ${org.id} and s.entity_type = 'item' order by s.seq
  `.execute(w.db)
  const { rows: events } = await sql<{ data: Record<string, unknown> }>`
    select type, entity_type, entity_id, project_id = ${org.projectId} as "isThere", data - 'created_at' - 'project_id' as data,
      data ->> 'project_id' = ${org.projectId} as "saysWhere", row_number() over (order by seq)::integer as nth
    from event where org_id = ${org.id} and type = 'item.created' order by seq
  `.execute(w.db)
  const { rows: account } = await sql`select item_count, storage_bytes from project where id = ${org.projectId}`.execute(w.db)
  return { items, lineage, events, account }
}

// Goal: many items of one import leave the same rows, cells, assets, lineage, events and counters as the same items one by one, whichever
// statements write them, and events that somebody waits for are delivered in both cases.
test('an import of many items writes what imports of one item write', async (t) => {
  const endpoint = await receiver(t)
  const w = await world(t, { egressAllow: [endpoint.host] })
  const numbers = Array.from({ length: ITEMS }, (_, nth) => nth)
  const [together, oneByOne, watched] = [
    await w.organization('Together'),
    await w.organization('One by one'),
    await w.organization('Watched'),
  ]
  await w.ok(watched.owner.token, 'event_subscriptions.create', { event_type: 'item.created', endpoint_url: endpoint.url })
  await importOf(w, together, numbers)
  for (const nth of numbers) await importOf(w, oneByOne, [nth])
  await importOf(w, watched, numbers)
  const expected = await written(w, oneByOne)
  assert.deepEqual(
    [expected.items.length, expected.lineage.length, expected.events.length],
    [ITEMS, ITEMS, ITEMS],
    'each has an item, an edge and an event',
  )

  await t.test('in one call', async () => assert.deepEqual(await written(w, together), expected))

  await t.test('in one call, with a subscription', async () => {
    assert.deepEqual(await written(w, watched), expected)
    const { rows } = await sql<{ deliveries: number; backlog: number }>`
      select (select count(*)::integer from webhook_delivery d join event_subscription s on s.id = d.subscription_id
          where s.org_id = ${watched.id}) as deliveries,
        (select count(*)::integer from webhook_backlog where org_id = ${watched.id}) as backlog
    `.execute(w.db)
    assert.equal(rows[0]!.deliveries + rows[0]!.backlog, ITEMS)
  })

  await t.test('the stream of events has all of them in order', async () => {
    const { rows } = await sql<{ ids: string[] }>`
      select array_agg(entity_id order by seq) as ids from event where org_id = ${together.id} and type = 'item.created'
    `.execute(w.db)
    assert.deepEqual(
      rows[0]!.ids,
      numbers.map((nth) => feature(nth).id),
    )
  })
})
