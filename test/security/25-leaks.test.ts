import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { sql } from 'kysely'
import { newId } from '#core/ids.ts'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { operations } from '#registry.ts'
import { scene } from '../support/scene.ts'
import { world, type Answer, type Org, type World } from '../support/world.ts'
import { businessDigest } from './digest.ts'

/** Every table and column name that tells of our insides, and the shapes of stacks, statements, paths and driver errors. */
async function telltales(w: World): Promise<RegExp[]> {
  const { rows } = await sql<{
    name: string
  }>`select table_name as name from information_schema.tables where table_schema in ('public', 'queue')`.execute(w.db)
  const tables = rows.map(({ name }) => name).filter((name) => name.includes('_')) // 'project' and 'event' are words of the interface too.
  return [
    new RegExp(`\\b(${tables.join('|')})\\b`),
    /\bat .*[\w./]+:\d+/,
    /\.(ts|mjs|js)\b/,
    /node_modules|node:internal|file:\/\//,
    /\/(work|home|tmp|var|usr|src)\//,
    /\b(select|insert into|update \w+ set|delete from|alter table)\b/i,
    /\b(relation|column|constraint|syntax|duplicate key|transaction is aborted|statement timeout)\b/i,
    /\b(postgres|kysely|pg|fastify|typebox|jose|socket|ECONN\w*|connection|terminat\w+|Error:)\b/i,
    /\b(23505|42P01|42703|57P01|3D000)\b/,
    /\$\d\b/,
  ]
}

function requireFixed(answer: Answer, signs: readonly RegExp[], why: string): void {
  assert.equal(answer.status, 500, why)
  const { instance, type, ...rest } = answer.body
  assert.deepEqual(
    rest,
    {
      title: 'Internal Server Error',
      status: 500,
      detail: 'Something went wrong on our side. Nothing of this request was kept.',
      code: 'internal-error',
    },
    why,
  )
  assert.match(type, /\/problems\/internal-error$/)
  assert.match(instance, /^urn:uuid:[0-9a-f-]{36}$/)
  const text = `${answer.bytes.toString()}\n${[...answer.headers]
    .filter(([name]) => !['content-security-policy', 'access-control-expose-headers'].includes(name))
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')}`
  for (const sign of signs)
    assert.doesNotMatch(text.replaceAll(/https?:\/\/127\.0\.0\.1:\d+/g, '').replace(/^connection: .*$/m, ''), sign, why)
}

const item = (org: Org, w: World) =>
  w.ok(org.owner.token, 'items.create', {
    project_id: org.projectId,
    type: 'user_raster',
    name: 'x',
    assets: [
      { key: 'data', href: 'https://data.example/a.tif' },
      { key: 'more', href: 'https://data.example/b.tif' },
    ],
  })
const upload = async (org: Org, w: World) => ({
  upload_id: (await w.ok(org.owner.token, 'uploads.initiate', { project_id: org.projectId, total_bytes: 100 })).id as string,
})
const uploaded = async (org: Org, w: World) => {
  const session = await upload(org, w)
  await w.put(
    (await w.ok(org.owner.token, 'uploads.signed_url', { ...session, file_name: 'a.tif' })).upload_url,
    await scene({ width: 16, height: 16 }),
  )
  return session
}
const profile = async (org: Org, w: World) => {
  const { id: item_id } = await item(org, w)
  return {
    item_id,
    profile_id: (
      await w.ok(org.owner.token, 'visualization.profile.create', { item_id, name: 'x', type: 'rgb', config: { bands: [1, 2, 3] } })
    ).id as string,
  }
}
const collection = async (org: Org, w: World) => ({
  project_id: org.projectId,
  collection_id: (await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'x' })).id as string,
})

const link = async (org: Org, w: World) => {
  const { id: target_id } = await item(org, w)
  const made = await w.ok(org.owner.token, 'share.link.create', {
    target_type: 'item',
    target_id,
    permission: 'download',
    password: 'coral and sand',
    expires_at: '2040-01-01T00:00:00Z',
  })
  return {
    link_id: made.id as string,
    opens: { token: made.token as string, password: 'coral and sand' },
    asset_id: (await w.ok(org.owner.token, 'items.list_assets', { item_id: target_id }))[0].id as string,
  }
}

/** What to call, and what to break so that it fails inside the operation, after everything before it went well. */
const FAULTS: Record<string, { breaks: string; input(org: Org, w: World): Promise<object> | object }> = {
  'billing.approvals.approve': { breaks: 'table approval', input: () => ({ approval_id: newId() }) },
  'billing.approvals.get': { breaks: 'table approval', input: () => ({ approval_id: newId() }) },
  'billing.approvals.list': { breaks: 'table approval', input: () => ({}) },
  'billing.approvals.reject': { breaks: 'table approval', input: () => ({ approval_id: newId() }) },
  'billing.approvals.request': { breaks: 'table approval', input: () => ({ credits: 5 }) },
  'billing.auto_topup.get': { breaks: 'table wallet', input: () => ({}) },
  'billing.credits.balance': { breaks: 'table wallet', input: () => ({}) },
  'billing.credits.grant': { breaks: 'table ledger_transfer', input: (org) => ({ organization_id: org.id, credits: 5, reason: 'x' }) },
  'billing.credits.transactions': { breaks: 'table ledger_transfer', input: () => ({}) },
  'billing.enterprise.accrual': { breaks: 'table reservation', input: (org) => ({ organization_id: org.id }) },
  'billing.enterprise.mark_invoiced': { breaks: 'table reservation', input: (org) => ({ organization_id: org.id, reference: 'x' }) },
  'billing.invoices.get': { breaks: 'table invoice', input: () => ({ invoice_id: newId() }) },
  'billing.invoices.list': { breaks: 'table invoice', input: () => ({}) },
  'billing.jobs.settle_unsettled': { breaks: 'table reservation', input: () => ({}) },
  'billing.reconciliation.run': { breaks: 'table reconciliation', input: (org) => ({ organization_id: org.id }) },
  'billing.run_monthly_cron': { breaks: 'column audit.artifacts', input: () => ({}) },
  'billing.run_monthly_for_org': { breaks: 'table commitment', input: (org) => ({ organization_id: org.id }) },
  'billing.set_auto_topup': {
    breaks: 'column wallet.auto_amount',
    input: () => ({ enabled: false, threshold_credits: 1, topup_amount_credits: 10_000 }),
  },
  'billing.status.get': { breaks: 'table wallet', input: (org) => ({ organization_id: org.id }) },
  'billing.stripe_invoices.list': { breaks: 'table wallet', input: () => ({}) },
  'billing.topup': { breaks: 'table payment_method', input: () => ({ aud_cents: 10_000 }) },
  'organizations.commitments.list': { breaks: 'table commitment', input: () => ({}) },
  'organizations.commitments.put': {
    breaks: 'table commitment',
    input: (org) => ({
      organization_id: org.id,
      name: 'x',
      period_start: '2030-01-01',
      period_end: '2030-12-31',
      minimum_aud: 5,
      rates: [],
    }),
  },
  'organizations.commitments.statement': { breaks: 'table invoice', input: (org) => ({ organization_id: org.id }) },
  'organizations.set_billing_mode': {
    breaks: 'column organization.enterprise_status',
    input: (org) => ({ organization_id: org.id, billing_mode: 'standard' }),
  },
  'payment_methods.attach': { breaks: 'column wallet.customer_id', input: () => ({ payment_method_id: 'pm_card_visa' }) },
  'payment_methods.create_setup_intent': { breaks: 'column wallet.customer_id', input: () => ({}) },
  'payment_methods.detach': { breaks: 'table payment_method', input: () => ({ payment_method_row_id: newId() }) },
  'payment_methods.list': { breaks: 'table payment_method', input: () => ({}) },
  'payment_methods.set_default': { breaks: 'table payment_method', input: () => ({ payment_method_row_id: newId() }) },
  'api_keys.create': { breaks: 'table api_key', input: () => ({ name: 'x' }) },
  'api_keys.list': { breaks: 'table api_key', input: () => ({}) },
  'api_keys.revoke': { breaks: 'table api_key', input: async (org, w) => ({ key_id: (await w.key(org.owner.token)).id }) },
  'api_keys.set_scopes': {
    breaks: 'table api_key',
    input: async (org, w) => ({ key_id: (await w.key(org.owner.token)).id, scopes: ['items:read'] }),
  },
  'assets.delete': {
    breaks: 'table asset',
    input: async (org, w) => {
      const { id } = await item(org, w)
      return { item_id: id, asset_id: (await w.ok(org.owner.token, 'items.list_assets', { item_id: id }))[1].id }
    },
  },
  'billing.plan.change': { breaks: 'table organization_plan', input: () => ({ plan_id: 'free' }) },
  'billing.plans.list': { breaks: 'column organization.plan_id', input: () => ({}) },
  'collections.create': { breaks: 'table collection', input: (org) => ({ project_id: org.projectId, name: 'x' }) },
  'collections.delete': { breaks: 'column collection.deleted_at', input: collection },
  'collections.get': { breaks: 'table collection', input: collection },
  'collections.list': { breaks: 'table collection', input: (org) => ({ project_id: org.projectId }) },
  'collections.tile.render': {
    breaks: 'table item',
    input: async (org, w) => ({ collection_id: (await collection(org, w)).collection_id, z: 0, x: 0, y: 0 }),
  },
  'collections.tile.tilejson': {
    breaks: 'table item',
    input: async (org, w) => ({ collection_id: (await collection(org, w)).collection_id }),
  },
  'collections.update': {
    breaks: 'column collection.layer_order',
    input: async (org, w) => ({ ...(await collection(org, w)), name: 'y' }),
  },
  'items.asset.download': { breaks: 'table egress_log', input: async (org, w) => ({ item_id: (await item(org, w)).id, asset_id: 'data' }) },
  'items.create': {
    breaks: 'table item_cell',
    input: (org) => ({ project_id: org.projectId, type: 'user_raster', name: 'x', bbox: [0, 0, 1, 1] }),
  },
  'items.delete': { breaks: 'table asset', input: async (org, w) => ({ item_id: (await item(org, w)).id }) },
  'items.detect_asset_bands': { breaks: 'table asset', input: async (org, w) => ({ item_id: (await item(org, w)).id, asset_id: 'data' }) },
  'items.duplicate': { breaks: 'table asset', input: async (org, w) => ({ item_id: (await item(org, w)).id }) },
  'items.expire_batch': { breaks: 'column item.due_at', input: () => ({}) },
  'items.get': { breaks: 'table item', input: async (org, w) => ({ item_id: (await item(org, w)).id }) },
  'items.import_stac': {
    breaks: 'table item_cell',
    input: (org) => ({
      project_id: org.projectId,
      features: {
        type: 'FeatureCollection',
        features: [
          {
            type: 'Feature',
            id: 'scene-1',
            geometry: {
              type: 'Polygon',
              coordinates: [
                [
                  [0, 0],
                  [1, 0],
                  [1, 1],
                  [0, 0],
                ],
              ],
            },
            properties: { datetime: '2029-01-01T00:00:00Z' },
            assets: {},
          },
        ],
      },
    }),
  },
  'items.lineage': { breaks: 'table lineage_edge', input: async (org, w) => ({ item_id: (await item(org, w)).id }) },
  'items.list': { breaks: 'table item', input: (org) => ({ project_id: org.projectId }) },
  'items.list_expiring': { breaks: 'column item.due_at', input: () => ({}) },
  'items.list_assets': { breaks: 'table asset', input: async (org, w) => ({ item_id: (await item(org, w)).id }) },
  'items.list_by_collection': {
    breaks: 'table item',
    input: async (org, w) => ({ collection_id: (await collection(org, w)).collection_id }),
  },
  'items.point': { breaks: 'table asset', input: async (org, w) => ({ item_id: (await item(org, w)).id, longitude: 0, latitude: 0 }) },
  'items.search': { breaks: 'table item', input: (org) => ({ project_id: org.projectId }) },
  'items.search_org': { breaks: 'table item', input: () => ({}) },
  'items.tile.render': {
    breaks: 'table visualization_profile',
    input: async (org, w) => ({ item_id: (await item(org, w)).id, z: 0, x: 0, y: 0 }),
  },
  'items.tile.statistics': {
    breaks: 'table visualization_profile',
    input: async (org, w) => ({ item_id: (await item(org, w)).id, expression: 'b1' }),
  },
  'items.tile.tilejson': { breaks: 'table visualization_profile', input: async (org, w) => ({ item_id: (await item(org, w)).id }) },
  'items.tile.wmts_capabilities': {
    breaks: 'table visualization_profile',
    input: async (org, w) => ({ item_id: (await item(org, w)).id, base_url: w.baseUrl }),
  },
  'items.tile.wmts_get_tile': {
    breaks: 'table visualization_profile',
    input: async (org, w) => ({ item_id: (await item(org, w)).id, z: 0, x: 0, y: 0 }),
  },
  'items.set_asset_band_names': {
    breaks: 'column item.updated_at',
    input: async (org, w) => {
      await w.ok(org.owner.token, 'items.import_stac', {
        project_id: org.projectId,
        ndjson: JSON.stringify({
          type: 'Feature',
          id: 'bands-1',
          geometry: null,
          properties: { datetime: '2029-01-01T00:00:00Z' },
          assets: { data: { href: 'https://data.example/a.tif', 'eo:bands': [{ name: 'B04' }] } },
        }),
      })
      return { item_id: 'bands-1', asset_id: 'data', band_names: ['red'] }
    },
  },
  'items.update': { breaks: 'table item_cell', input: async (org, w) => ({ item_id: (await item(org, w)).id, bbox: [2, 2, 3, 3] }) },
  'organizations.create': { breaks: 'column organization.slug', input: () => ({ name: 'x' }) },
  'organizations.get': { breaks: 'column organization.slug', input: () => ({}) },
  'organizations.audit.list': { breaks: 'column audit.artifacts', input: () => ({}) },
  'organizations.members.list': { breaks: 'column organization_member.spend_limit_credits', input: (org) => ({ organizationId: org.id }) },
  'organizations.members.set_spend_limit': {
    breaks: 'column organization_member.spend_limit_credits',
    input: (org) => ({ organizationId: org.id, userId: org.owner.id }),
  },
  'projects.create': { breaks: 'table lineage_node', input: () => ({ name: 'x' }) },
  'projects.list': { breaks: 'table project', input: () => ({}) },
  'projects.get': { breaks: 'table project_member', input: (org) => ({ project_id: org.projectId }) },
  'projects.update': { breaks: 'column project.updated_at', input: (org) => ({ project_id: org.projectId, name: 'x' }) },
  'projects.archive': { breaks: 'column project.updated_at', input: (org) => ({ project_id: org.projectId }) },
  'projects.delete': { breaks: 'table invitation', input: (org) => ({ project_id: org.projectId }) },
  'projects.add_member': { breaks: 'table invitation', input: (org) => ({ project_id: org.projectId, email: 'x@example.com' }) },
  'projects.remove_member': { breaks: 'table project_member', input: (org) => ({ project_id: org.projectId, user_id: org.owner.id }) },
  'projects.update_member': {
    breaks: 'table project_member',
    input: (org) => ({ project_id: org.projectId, user_id: org.owner.id, role: 'admin' }),
  },
  'usage.current': { breaks: 'table egress_minute', input: () => ({}) },
  'usage.history': { breaks: 'column usage_day.amount', input: () => ({}) },
  'usage.recalculate_storage': { breaks: 'column storage_account.recalculated_at', input: () => ({}) },
  'share.asset.download': {
    breaks: 'table egress_log',
    input: async (org, w) => {
      const { opens, asset_id } = await link(org, w)
      return { ...opens, asset_id }
    },
  },
  'share.link.create': {
    breaks: 'table share_link',
    input: async (org, w) => ({
      target_type: 'item',
      target_id: (await item(org, w)).id,
      password: 'coral and sand',
      expires_at: '2040-01-01T00:00:00Z',
    }),
  },
  'share.link.revoke': { breaks: 'column share_link.revoked_at', input: async (org, w) => ({ link_id: (await link(org, w)).link_id }) },
  'share.link.validate': { breaks: 'table share_link', input: async (org, w) => (await link(org, w)).opens },
  'share.links.list': { breaks: 'table share_link', input: () => ({}) },
  'share.tile.render': { breaks: 'table asset', input: async (org, w) => ({ ...(await link(org, w)).opens, z: 0, x: 0, y: 0 }) },
  'share.tilejson': { breaks: 'table asset', input: async (org, w) => (await link(org, w)).opens },
  'uploads.complete': { breaks: 'table asset', input: uploaded },
  'uploads.fail': {
    breaks: 'column storage_account.reserved_bytes',
    input: async (org, w) => ({ ...(await upload(org, w)), error_message: 'x' }),
  },
  'uploads.initiate': {
    breaks: 'column storage_account.reserved_bytes',
    input: (org) => ({ project_id: org.projectId, total_bytes: 100 }),
  },
  'uploads.progress': { breaks: 'table upload_file', input: upload },
  'uploads.signed_url': { breaks: 'table upload_file', input: async (org, w) => ({ ...(await upload(org, w)), file_name: 'a.tif' }) },
  'visualization.profile.create': {
    breaks: 'table visualization_profile',
    input: async (org, w) => ({ item_id: (await item(org, w)).id, name: 'x', type: 'rgb', config: { bands: [1, 2, 3] } }),
  },
  'visualization.profile.delete': { breaks: 'table visualization_profile', input: profile },
  'visualization.profile.get': { breaks: 'table visualization_profile', input: profile },
  'visualization.profile.set_default': { breaks: 'table visualization_profile', input: profile },
  'visualization.profile.update': { breaks: 'table visualization_profile', input: profile },
  'visualization.profiles.list': { breaks: 'table visualization_profile', input: async (org, w) => ({ item_id: (await item(org, w)).id }) },
  'provenance.get': { breaks: 'table lineage_node', input: (org) => ({ entity_type: 'project', entity_id: org.projectId }) },
}

/** Pixels and tables of constants: there is no ground to break under them. Their failures are in the tests beside them. */
const WITHOUT_DATABASE = [
  'cog.colormaps',
  'cog.formulas',
  'cog.statistics',
  'cog.thumbnail',
  'cog.tile.render',
  'cog.tile.terrain',
  'visualization.list_for',
]

async function broken<T>(w: World, what: string, meanwhile: () => Promise<T>): Promise<T> {
  const [kind, name] = what.split(' ') as ['table' | 'column', string]
  const [table, column] = name.split('.') as [string, string | undefined]
  const rename = (from: string, to: string) =>
    kind === 'table'
      ? sql`alter table ${sql.id(from)} rename to ${sql.id(to)}`.execute(w.db)
      : sql`alter table ${sql.id(table)} rename column ${sql.id(from)} to ${sql.id(to)}`.execute(w.db)
  await w.flushAudit()
  await rename(column ?? table, 'gone')
  try {
    return await meanwhile()
  } finally {
    await rename('gone', column ?? table)
  }
}

// Goal: when the ground breaks under an operation, the caller learns which call it was, and nothing about the inside; the
// log has the rest under the same id; nothing of the call remains.
test('row 25: a fault in every operation tells nothing', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const everything = await w.serviceToken(null)
  const signs = await telltales(w)
  assert.deepEqual(
    [...Object.keys(FAULTS), ...WITHOUT_DATABASE].toSorted(),
    [...operations.keys()].toSorted(),
    'every operation has its fault',
  )

  for (const [id, { breaks, input }] of Object.entries(FAULTS)) {
    await t.test(`${id} without ${breaks}`, async () => {
      const body = await input(org, w)
      const credential = operations.get(id)!.scope.startsWith('admin:') ? everything : org.owner.token
      const before = await businessDigest(w.db)
      const answer = await broken(w, breaks, () => w.call(credential, id, body))
      requireFixed(answer, signs, id)
      assert.equal(answer.body.instance, `urn:uuid:${answer.headers.get('x-svc-invocation-id')}`)
      const fault = w.logLines
        .map((line) => JSON.parse(line))
        .find((line) => line.msg === 'fault' && line.invocation === answer.headers.get('x-svc-invocation-id'))
      assert.equal(fault?.operation, id, 'the log knows the call')
      assert.ok(fault.err.message.length > 0 && fault.err.stack.includes('.ts'), 'and why it failed')
      assert.equal(await businessDigest(w.db), before)
      await w.flushAudit()
      const audited = await w.db
        .selectFrom('audit')
        .select(['status', 'operation'])
        .where('invocation_id', '=', answer.headers.get('x-svc-invocation-id')!)
        .execute()
      assert.deepEqual(audited, [{ status: 500, operation: id }], 'and so does the audit')
    })
  }

  await t.test('faults before and beside the operation: credentials, limits, audit, sign-in', async () => {
    const { key } = await w.key(org.owner.token)
    for (const [breaks, attempt] of [
      ['table user_session', () => w.call(org.owner.token, 'projects.list')],
      ['column api_key.secret_hash', () => w.call(key, 'projects.list')],
      ['table rate_window', () => w.call(key, 'projects.list')],
      ['column audit.input_hash', () => w.call(org.owner.token, 'projects.create', { name: 'not audited, not made' })],
      ['table event', () => w.call(org.owner.token, 'projects.create', { name: 'not told, not made' })],
      ['table user_session', () => w.request('GET', '/v1/event-types', { headers: { authorization: `Bearer ${org.owner.token}` } })],
      ['table app_user', () => w.post('/auth/sign-in', { email: org.owner.email, password: org.owner.password })],
      ['table rate_window', () => w.post('/auth/sign-up', { email: 'new@example.com', password: 'long enough password', name: 'x' })],
      ['table refresh_token', () => w.post('/auth/refresh', { refresh_token: org.owner.refreshToken })],
    ] as const)
      requireFixed(await broken(w, breaks, attempt), signs, breaks)
    assert.equal((await w.db.selectFrom('project').select('id').where('name', 'like', 'not %').execute()).length, 0)
  })

  await t.test('an operation that throws what it likes', async () => {
    for (const thrown of [
      new Error('select secret from vault'),
      'a string at /home/x.ts:1',
      null,
      { statusCode: 404, message: 'x' },
      Object.assign(new Error('gone'), { statusCode: 418, status: 200 }),
    ]) {
      const op = operation({
        id: 'test.throws',
        scope: 'items:read',
        tier: 'read',
        input: Closed({}),
        output: Closed({}),
        example: { input: {} },
      }).handle({ execute: () => Promise.reject(thrown) })
      const other = await world(t, { operations: [op], databaseUrl: w.databaseUrl })
      requireFixed(await other.call(org.owner.token, 'test.throws'), signs, String(thrown))
    }
  })
})

// Goal: when connections die or the database refuses new ones, callers get the same fixed answer, and service returns by itself.
test('row 25: a database that goes away', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const signs = await telltales(w)
  const name = new URL(w.databaseUrl).pathname.slice(1)
  const admin = new pg.Client({ connectionString: process.env['TEST_ADMIN_URL']! })
  await admin.connect()
  t.after(() => admin.end())
  const endConnections = () => admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
  await w.flushAudit()

  await t.test('it refuses everybody for a while', async () => {
    await admin.query(`alter database ${name} with allow_connections false`)
    try {
      await endConnections()
      for (const id of operations.keys())
        requireFixed(await w.call(org.owner.token, id, operations.get(id)!.example.input as object), signs, id)
      requireFixed(await w.post('/auth/sign-in', { email: org.owner.email, password: org.owner.password }), signs, 'sign-in')
      assert.equal((await w.request('GET', '/health')).status, 200)
    } finally {
      await admin.query(`alter database ${name} with allow_connections true`)
    }
    assert.equal((await w.call(org.owner.token, 'projects.list')).status, 200, 'back without a restart')
  })

  await t.test('connections are cut again and again under load: answers are whole or fixed', async () => {
    for (let round = 0; round < 3; round++) {
      const calls = Array.from({ length: 30 }, (_, index) =>
        w.call(org.owner.token, index % 2 ? 'projects.list' : 'projects.create', index % 2 ? {} : { name: `cut ${round} ${index}` }),
      )
      await endConnections()
      const answers = await Promise.all(calls)
      for (const answer of answers) if (answer.status !== 200) requireFixed(answer, signs, `round ${round}`)
      const acknowledged = answers.filter(({ status, body }) => status === 200 && body.id).map(({ body }) => body.id as string)
      const witness = new pg.Client({ connectionString: w.databaseUrl })
      await witness.connect()
      const { rowCount } = await witness.query('select id from project where id = any($1::uuid[])', [acknowledged])
      await witness.end()
      assert.equal(rowCount, acknowledged.length, 'what was acknowledged is there')
    }
    assert.equal((await w.call(org.owner.token, 'projects.list')).status, 200)
  })
})

// Goal: any page may call with a credential of its own, no page can borrow one, and it can read what it needs.
test('row 25: cross-origin calls', async (t) => {
  const w = await world(t)
  const { owner } = await w.organization()
  const names = (value: string | null) => (value ?? '').toLowerCase().split(/,\s*/)

  const preflight = await w.request('OPTIONS', '/v1/op/projects.list', {
    headers: {
      origin: 'https://evil.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,idempotency-key,x-api-key',
    },
  })
  assert.equal(preflight.status, 204)
  assert.equal(preflight.bytes.length, 0)
  assert.ok(names(preflight.headers.get('access-control-allow-methods')).includes('post'))
  for (const header of ['authorization', 'x-api-key', 'content-type', 'idempotency-key'])
    assert.ok(names(preflight.headers.get('access-control-allow-headers')).includes(header), header)

  const answers = {
    preflight,
    success: await w.call(owner.token, 'projects.list', {}, { origin: 'https://evil.example' }),
    unauthorized: await w.call(null, 'projects.list', {}, { origin: 'https://evil.example' }),
    invalid: await w.call(owner.token, 'projects.list', { x: 1 }),
    'unknown operation': await w.call(owner.token, 'no.such'),
    nowhere: await w.request('GET', '/nowhere'),
    'bad address': await w.request('GET', '/%zz'),
    'sign-in': await w.post('/auth/sign-in', { email: 'x', password: 'x' }),
  }
  for (const [which, { headers }] of Object.entries(answers)) {
    assert.equal(headers.get('access-control-allow-origin'), '*', which)
    assert.equal(headers.get('access-control-allow-credentials'), null, `${which}: no cookies, so no page borrows a session`)
    assert.equal(headers.get('set-cookie'), null, which)
    for (const header of ['ratelimit', 'ratelimit-policy', 'retry-after', 'etag', 'content-disposition'])
      assert.ok(names(headers.get('access-control-expose-headers')).includes(header), `${which} exposes ${header}`)
    assert.equal(headers.get('x-content-type-options'), 'nosniff', which)
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/, which)
    assert.equal(headers.get('server'), null, which)
    assert.equal(headers.get('x-powered-by'), null, which)
  }
  for (const which of ['success', 'unauthorized', 'sign-in'] as const)
    assert.equal(answers[which].headers.get('cache-control'), 'no-store', which)
})

// Goal: a limit belongs to its key (or, for nobody, to the real address), and no alias, header, process or failure gets around it.
test('row 25: limits cannot be walked around', async (t) => {
  const open = operation({
    id: 'test.open',
    scope: 'tiles:read',
    tier: 'read',
    public: true,
    input: Closed({}),
    output: Closed({}),
    example: { input: {} },
  }).handle({ execute: async () => ({}) })
  const w = await world(t, { operations: [open] })
  const second = await world(t, { operations: [open], databaseUrl: w.databaseUrl })
  const { owner } = await w.organization()
  const limited = async (rate_limit: number) => (await w.key(owner.token, ['read'], { rate_limit })).key
  const remaining = ({ headers }: Answer) => Number(/r=(\d+)/.exec(headers.get('ratelimit')!)![1])

  await t.test('both path forms, both processes, every way to send the key, failed calls and GET routes count alike', async () => {
    const key = await limited(9)
    const bearer = { authorization: `Bearer ${key}` }
    const calls: (() => Promise<Answer>)[] = [
      () => w.call(key, 'projects.list'),
      () => w.post('/v1/projects/list', {}, bearer),
      () => second.post('/v1/projects/list', {}, bearer),
      () => w.post('/v1/op/projects.list', {}, { 'x-api-key': key }),
      () => w.call(key, 'projects.create', { name: 'x' }), //        403
      () => w.call(key, 'projects.list', { unknown: 1 }), //         422
      () => w.request('GET', `/v1/event-types?key=${key}`),
      () => second.request('GET', '/v1/event-types', { headers: { 'x-api-key': key } }),
      () => w.post('/v1/op/projects.list', {}, { ...bearer, 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' }),
    ]
    for (const [index, call] of calls.entries()) {
      const answer = await call()
      assert.notEqual(answer.status, 429, `call ${index + 1}`)
      assert.equal(answer.headers.get('ratelimit-policy'), '"key";q=9;w=3600')
      assert.equal(remaining(answer), 9 - index - 1)
    }
    for (const call of calls) {
      const answer = await call()
      assert.equal(answer.status, 429)
      assert.equal(answer.body.code, 'rate-limited')
      assert.equal(answer.headers.get('retry-after'), '3600')
      assert.equal(remaining(answer), 0)
    }
    assert.equal((await w.call(owner.token, 'projects.list')).status, 200, 'the person is not their key')
    w.clock.advance({ hours: 1 })
    second.clock.advance({ hours: 1 })
    assert.equal((await w.call(key, 'projects.list')).status, 200, 'a new window')
  })

  await t.test('exact to one request over two processes at once', async () => {
    const fresh = await w.signIn(owner)
    const { key } = await w.key(fresh.token, ['read'], { rate_limit: 25 })
    const answers = await Promise.all(Array.from({ length: 60 }, (_, index) => (index % 2 ? w : second).call(key, 'projects.list')))
    assert.equal(answers.filter(({ status }) => status === 200).length, 25)
    assert.equal(answers.filter(({ status }) => status === 429).length, 35)
  })

  await t.test('without a key of its own limit, the organization gives it', async () => {
    const fresh = await w.signIn(owner)
    const { key } = await w.key(fresh.token, ['read'])
    assert.equal((await w.call(key, 'projects.list')).headers.get('ratelimit-policy'), '"key";q=10000;w=3600')
    assert.equal((await w.call(fresh.token, 'projects.list')).headers.get('ratelimit-policy'), '"user";q=36000;w=3600')
  })

  await t.test('a forwarded address is not an address', async () => {
    const from = (headers: Record<string, string>, path = '/v1/op/test.open') => w.post(path, {}, headers)
    const first = await from({})
    assert.equal(first.headers.get('ratelimit-policy'), '"address";q=600;w=60')
    const spoofs: Record<string, string>[] = [
      { 'x-forwarded-for': '203.0.113.1' },
      { 'x-forwarded-for': '203.0.113.2, 127.0.0.1' },
      { forwarded: 'for=203.0.113.3' },
      { 'x-real-ip': '203.0.113.4' },
      { 'cf-connecting-ip': '203.0.113.5' },
      { 'true-client-ip': '203.0.113.6' },
    ]
    for (const [index, spoof] of spoofs.entries())
      assert.equal(remaining(await from(spoof, index % 2 ? '/v1/test/open' : '/v1/op/test.open')), remaining(first) - 1 - index)
    assert.ok(!w.logLines.some((line) => line.includes('203.0.113.')), 'nor is it one in the log')
  })

  await t.test('nor does it help to guess passwords', async () => {
    const person = await w.person()
    const guess = (index: number) =>
      w.post('/auth/sign-in', { email: person.email, password: 'wrong password' }, { 'x-forwarded-for': `203.0.113.${index}` })
    for (let index = 0; index < 10; index++) assert.equal((await guess(index)).status, 401)
    assert.equal((await guess(11)).status, 429)
  })

  await t.test('links in answers come from the configuration, not from the Host header', async () => {
    const { body } = await w.post('/v1/op/projects.list', {}, { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' })
    assert.equal(body.type, `${w.baseUrl}/problems/unauthorized`)
  })
})
