/** Fills a database of `bench/migrations.ts` by statements inside it. Columns that its schema does not have yet are left out. */
import pg from 'pg'

interface Sizes {
  items: number
  events: number
}

const ORGANIZATIONS = 100
const BATCH = 500_000
const ITEMS_AN_ORDER = 100
/** Two at a time: more would only wait for each other. */
const SESSIONS = 2

/** As new IDs are: in the order of time. `kind` keeps those of different tables apart. */
const idOf = (kind: number, n: string) => `(lpad(to_hex(${n}), 12, '0') || '70008000' || lpad('${kind}', 12, '0'))::uuid`
/** One of the hundred; in an array, because to write an ID anew for each of many million rows takes longer than to store the row. */
const oneOf = (kind: number): string => {
  const ids = Array.from(
    { length: ORGANIZATIONS },
    (_, n) => `${(n + 1).toString(16).padStart(12, '0')}70008000${String(kind).padStart(12, '0')}`,
  )
  return `('{${ids.join()}}'::uuid[])[n % ${ORGANIZATIONS} + 1]`
}
const ORGANIZATION = oneOf(1)
const PROJECT = oneOf(2)
/** Spread over the last two months. */
const AT = "now() - interval '60 days' * (1 - n::float8 / :count)"

/** What a row of a table contains, as SQL of its number `n` of `:count`. */
type Columns = Readonly<Record<string, string>>

const ITEM: Columns = {
  seq: 'n',
  id: "'S2_' || lpad(n::text, 10, '0')",
  stac_id: "'S2_' || lpad(n::text, 10, '0')",
  org_id: ORGANIZATION,
  project_id: PROJECT,
  type: "'satellite_capture'",
  name: "'Scene ' || n",
  geometry: `'{"type": "Polygon", "coordinates": [[[150, -34], [151, -34], [151, -33], [150, -33], [150, -34]]]}'`,
  bbox: "'{150, -34, 151, -33}'",
  datetime: AT,
  cloud_cover: 'n % 101',
  gsd: '10',
  properties: `'{"platform": "sentinel-2a", "instruments": ["msi"], "proj:epsg": 32756, "view:off_nadir": 4.2}'`,
  created_at: AT,
  updated_at: AT,
}

const ASSET: Columns = {
  id: idOf(3, 'n'),
  org_id: ORGANIZATION,
  item_seq: 'n',
  key: "'data'",
  media_type: "'image/tiff; application=geotiff; profile=cloud-optimized'",
  href: "'https://images.example.com/S2_' || lpad(n::text, 10, '0') || '.tif'",
  created_at: AT,
  updated_at: AT,
}

const EVENT: Columns = {
  seq: 'n',
  id: idOf(4, 'n'),
  org_id: ORGANIZATION,
  project_id: PROJECT,
  type: "'item.created'",
  entity_type: "'item'",
  entity_id: "'S2_' || lpad(n::text, 10, '0')",
  data: `'{"id": "S2_0000000001", "name": "Scene", "type": "satellite_capture", "collection_id": null, "deleted_at": null}'`,
  invocation_id: ORGANIZATION,
  occurred_at: AT,
  txid: 'pg_current_xact_id()',
}

const AUDIT: Columns = {
  invocation_id: idOf(5, 'n'),
  org_id: ORGANIZATION,
  principal_kind: "'user'",
  principal_id: "'someone'",
  operation: "'items.create'",
  status: '200',
  duration_ms: '7',
  at: AT,
}

const ORDER: Columns = {
  id: idOf(6, 'n'),
  org_id: ORGANIZATION,
  project_id: PROJECT,
  order_type: "'archive'",
  status: "'processing'",
  billing_mode: "'credit'",
  display_name: "'Order ' || n",
  license_type: "'standard'",
  tags: "'{}'",
  estimated_credits: '100',
  simulated: 'true',
  history: `'[{"status":"processing"}]'`,
  next_poll_at: AT,
  created_at: AT,
  updated_at: AT,
}

const ORDER_GROUP: Columns = {
  id: idOf(7, 'n'),
  order_id: idOf(6, 'n'),
  org_id: ORGANIZATION,
  ordinal: '0',
  host_name: "'sandbox-vhr'",
  product_id: "'vhr'",
  product_name: "'VHR'",
  status: "'placed'",
  steps: "'{}'",
  captures: "'[]'",
  params: "'{}'",
  area: "'{}'",
  area_km2: '25',
  credits: '100',
  reserved_credits: '100',
  updated_at: AT,
}

const SUBSCRIPTION: Columns = {
  id: idOf(8, 'n'),
  org_id: ORGANIZATION,
  event_type: "'item.created'",
  endpoint_url: "'https://hooks.example.com/' || n",
  secret: "'whsec_of_a_bench'",
  created_at: AT,
  updated_at: AT,
}

const DELIVERY: Columns = {
  id: idOf(9, 'n'),
  subscription_id: oneOf(8),
  event_seq: 'n',
  endpoint_key: 'n % 100',
  state: "'delivered'",
  since: AT,
  due_at: AT,
  created_at: AT,
  ended_at: AT,
}

const FOUNDATION: Readonly<Record<string, Columns>> = {
  organization: {
    id: idOf(1, 'n'),
    name: "'Organization ' || n",
    slug: "'organization-' || n",
    retention_since: 'now()',
    created_at: 'now()',
    updated_at: 'now()',
  },
  project: { id: idOf(2, 'n'), org_id: idOf(1, 'n'), name: "'Project ' || n", created_at: 'now()', updated_at: 'now()' },
}

/** Returns what there is now, with its size. */
export async function fill(url: string, { items, events }: Sizes): Promise<string> {
  const began = performance.now()
  const first = await connected(url)
  const counts = [
    ...Object.entries(FOUNDATION).map(([table, columns]) => ({ table, columns, count: ORGANIZATIONS })),
    { table: 'event_subscription', columns: SUBSCRIPTION, count: ORGANIZATIONS },
    { table: 'event', columns: EVENT, count: events },
    { table: 'item', columns: ITEM, count: items },
    { table: 'asset', columns: ASSET, count: items / 10 },
    { table: 'audit', columns: AUDIT, count: items / 10 },
    { table: 'imagery_order', columns: ORDER, count: items / ITEMS_AN_ORDER },
    { table: 'order_group', columns: ORDER_GROUP, count: items / ITEMS_AN_ORDER },
    { table: 'webhook_delivery', columns: DELIVERY, count: items / 10 },
  ]
  const batches: string[] = []
  for (const { table, columns, count } of counts) batches.push(...(await batchesOf(first, table, columns, count)))
  const indexes = await withoutIndexes(first)
  const queue = batches.values()
  await Promise.all(Array.from({ length: SESSIONS }, () => work(url, queue)))
  await first.query(`set maintenance_work_mem = '1GB'`)
  for (const index of indexes) await first.query(index)
  for (const [table, column] of [
    ['item', 'seq'],
    ['event', 'seq'],
  ])
    await first.query(`select setval(pg_get_serial_sequence('${table}', '${column}'), (select max(${column}) from ${table}))`)
  await first.query('vacuum analyze')
  const { rows } = await first.query<{ size: string }>('select pg_size_pretty(pg_database_size(current_database())) as size')
  await first.end()
  const minutes = ((performance.now() - began) / 60_000).toFixed(1)
  return `${items.toLocaleString('en')} items and ${events.toLocaleString('en')} events, ${rows[0]!.size}, filled in ${minutes} minutes`
}

/** Built anew afterwards, which is faster; gives the statements for that. Those of constraints stay. */
async function withoutIndexes(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(`
    select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i
    where i.indrelid in ('item'::regclass, 'asset'::regclass, 'event'::regclass, 'audit'::regclass)
      and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`)
  for (const { name } of rows) await client.query(`drop index ${name}`)
  return rows.map(({ definition }) => definition)
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {}) // If another one failed, the server is stopped.
  await client.connect()
  return client
}

async function work(url: string, queue: Iterator<string>): Promise<void> {
  const client = await connected(url)
  // What rows refer to is there, and nobody misses a batch that a crash loses.
  await client.query('set session_replication_role = replica; set synchronous_commit = off')
  for (let next = queue.next(); !next.done; next = queue.next()) await client.query(next.value)
  await client.end()
}

/** Empty if the schema does not have the table yet. */
async function batchesOf(client: pg.Client, table: string, columns: Columns, count: number): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    'select attname as name from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped',
    [table],
  )
  const known = Object.keys(columns).filter((column) => rows.some(({ name }) => name === column))
  if (known.length === 0) return []
  const contents = known.map((column) => columns[column]!.replaceAll(':count', String(count))).join(', ')
  return Array.from({ length: Math.ceil(count / BATCH) }, (_, batch) => {
    const [from, to] = [batch * BATCH + 1, Math.min(count, (batch + 1) * BATCH)]
    return `insert into ${table} (${known.join(', ')}) overriding system value select ${contents} from generate_series(${from}, ${to}) n`
  })
}
