import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type, { type TSchema } from 'typebox'
import { EVENT_TYPES } from '#core/event-types.ts'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { operations } from '#registry.ts'
import { campaign } from '../support/campaign.ts'
import { world } from '../support/world.ts'
import { businessDigest } from './digest.ts'

/** Columns and flags that somebody would like to set on themselves. */
const PRIVILEGED = {
  role: 'owner',
  is_active: true,
  org_id: '0199f2c4-1d00-7c11-8e21-6a1f4b7c9d02',
  organization_id: '0199f2c4-1d00-7c11-8e21-6a1f4b7c9d02',
  user_id: '0199f2c3-bb20-7e66-a1da-4a3f2e1d0c9b',
  is_system_admin: true,
  isSystemAdmin: true,
  is_clip_user: true,
  explicit_scopes: ['admin:*'],
  scopes: ['*'],
  created_by: '0199f2c3-bb20-7e66-a1da-4a3f2e1d0c9b',
  created_at: '2020-01-01T00:00:00.000Z',
  deleted_at: null,
  plan_id: 'paid',
  enterprise_status: 'confirmed',
  storage_bytes: 0,
  bucket_name: 'x',
  secret_hash: 'x',
  id: '0199f2c3-bb20-7e66-a1da-4a3f2e1d0c9b',
  price: 0,
  credits: 1_000_000,
}

// Goal: a field that an operation does not declare never reaches it, whatever its name.
test('row 13: every operation rejects unknown and privileged fields', async (t) => {
  const w = await world(t)
  const { id } = await w.organization()
  const everything = await w.serviceToken(id) // Holds every scope, so that nothing but the field is in the way.
  const before = await businessDigest(w.db)
  for (const [index, op] of [...operations.values()].entries()) {
    const declared = Object.keys((op.input as unknown as { properties: object }).properties)
    const extra = Object.fromEntries(Object.entries({ ...PRIVILEGED, colour: 'red' }).filter(([name]) => !declared.includes(name)))
    const alone = Object.entries(extra)
    // A short campaign tries one field alone, another one for each operation; all of them together come below.
    for (const [name, value] of campaign({ short: [alone[index % alone.length]!], long: alone })) {
      const { status, body } = await w.call(everything, op.id, { ...(op.example.input as object), [name]: value })
      assert.equal(status, 422, `${op.id} took ${name}`)
      assert.deepEqual(
        body.errors.map((error: { field: string }) => error.field),
        [name],
        `${op.id} ${name}`,
      )
      assert.match(
        body.errors[0].message,
        /^is not a field of this operation((; did you mean \w+\? Its|; its) fields are [\w:, -]+|, which takes no fields)$/,
        `${op.id} ${name}`,
      )
    }
    const { body } = await w.call(everything, op.id, { ...(op.example.input as object), ...extra })
    assert.deepEqual(
      body.errors.map((error: { field: string }) => error.field).toSorted(),
      Object.keys(extra).toSorted(),
      `${op.id} names every field`,
    )
  }
  const flood = await w.call(
    everything,
    'projects.list',
    Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field_${index}`, index])),
  )
  assert.equal(flood.status, 422)
  assert.equal(flood.body.errors.length, 100, 'a flood of fields is answered with a bounded list')
  assert.equal(await businessDigest(w.db), before)

  for (const [name, value] of Object.entries(PRIVILEGED)) {
    const { status, body } = await w.post('/auth/sign-up', {
      email: 'climber@example.com',
      password: 'long enough password',
      name: 'x',
      [name]: value,
    })
    assert.equal(status, 422, `sign-up took ${name}`)
    assert.equal(body.errors[0].field, name)
  }
})

type Node = {
  type?: string
  properties?: Record<string, Node>
  additionalProperties?: unknown
  anyOf?: Node[]
  allOf?: Node[]
  oneOf?: Node[]
  items?: Node
}

/** Paths of objects that let unknown members through. */
function openObjects(schema: TSchema | Node, at = ''): string[] {
  const node = schema as Node
  const isObject = node.type === 'object' || node.properties !== undefined
  return [
    ...(isObject && node.additionalProperties !== false ? [at || '(root)'] : []),
    ...Object.entries(node.properties ?? {}).flatMap(([name, child]) => openObjects(child, at ? `${at}.${name}` : name)),
    ...[...(node.anyOf ?? []), ...(node.allOf ?? []), ...(node.oneOf ?? [])].flatMap((child) => openObjects(child, at)),
    ...(node.items ? openObjects(node.items, `${at}[]`) : []),
  ]
}

const ITEM = ['geometry', 'properties']
const RULE = ['alert_rule.band_mapping', 'alert_rule.aoi_geometry']
const FEATURE = ['features[].geometry', 'features[].properties', 'features[].assets']

const JOB = ['input_params', 'output_artifacts']
/** What is free-form by intent (docs/decisions.md G21), by operation. */
/** Areas, collections of them and parameters of products, as orders keep them. */
const ORDER = ['groups[].captures[].geometry', 'groups[].featureCollection', 'groups[].params']
const MAP = ['layers[].features[].geometry', 'annotations[].geometry']
const COVERAGE = ['covered.geometry', 'remainder.geometry']
const TASKED = ['groups[].featureCollection', 'groups[].params']

const FREE_FORM: Record<string, { input?: string[]; output?: string[] }> = {
  'alerts.create_rule': { input: ['band_mapping', 'aoi_geometry'], output: RULE },
  'alerts.rule.get': { output: RULE },
  'alerts.rules.list': { output: ['alert_rules[].band_mapping', 'alert_rules[].aoi_geometry'] },
  'alerts.test_rule': { input: ['rule.band_mapping', 'rule.aoi_geometry'] },
  'alerts.update_rule': { input: ['band_mapping', 'aoi_geometry'], output: RULE },
  'analytics.band_math': { input: ['geometry', 'band_mapping'], output: ['result'] },
  'analytics.calculate_index': { input: ['geometry', 'band_mapping'], output: ['result'] },
  'analytics.execute': { input: ['params'], output: ['result'] },
  'analytics.operations.get': { output: ['params_schema'] },
  'analytics.operations.list': { output: ['operations[].params_schema'] },
  'clip.create_from_area': { input: ['aoi_geometry'] },
  'clip.create_from_item': { input: ['aoi_geometry'] },
  'billing.approvals.approve': { output: ['input', 'result'] },
  'billing.approvals.get': { output: ['input'] },
  'billing.approvals.list': { output: ['approvals[].input'] },
  'billing.approvals.reject': { output: ['input'] },
  'billing.approvals.request': { input: ['input'], output: ['input'] },
  'catalog.aggregate': { input: ['query', 'intersects'] },
  'catalog.coverage': { input: ['area', 'footprints[]'], output: ['covered', 'rest'] },
  'catalog.federated_search': {
    input: ['query', 'intersects'],
    output: ['features[].geometry', 'features[].properties', 'features[].assets', 'features[].links[]', 'features[].links[].body'],
  },
  'catalog.granule_points': { input: ['clip_polygon'] },
  'catalog.item.get': { output: ['geometry', 'properties', 'assets', 'links[]', 'links[].body'] },
  'catalog.scene.cloud_cover': { input: ['area'] },
  'catalog.scene.copy': { input: ['area'], output: JOB.map((field) => `job.${field}`) },
  'catalog.scene.save': { output: ITEM.map((field) => `item.${field}`) },
  'catalog.search': {
    input: ['query', 'intersects'],
    output: [
      'features[].geometry',
      'features[].properties',
      'features[].assets',
      'features[].links[]',
      'features[].links[].body',
      'links[]',
      'links[].body',
    ],
  },
  'catalog.search_stream': { input: ['query', 'intersects'], output: ['geometry', 'properties', 'assets', 'links[]', 'links[].body'] },
  'catalog.tile.render': { input: ['aoi_clip_body'] },
  'glossary.data_products.get': { output: ['schema'] },
  'glossary.data_products.list': { output: ['content[].schema'] },
  'cog.formulas': { output: ['(root)'] }, // Keyed by id; each entry is closed.
  'cog.statistics': { input: ['geometry'] },
  'event_subscriptions.create': { input: ['filter_config', 'headers'], output: ['filter_config'] },
  'event_subscriptions.get': { output: ['filter_config'] },
  'event_subscriptions.list': { output: ['event_subscriptions[].filter_config'] },
  'event_subscriptions.update': { input: ['filter_config', 'headers'], output: ['filter_config'] },
  'items.line': { input: ['geometry'] },
  'items.create': { input: ['geometry', 'properties'], output: ITEM },
  'items.duplicate': { output: ITEM },
  'items.get': { output: ITEM.map((field) => `item.${field}`) },
  'items.get_stac': { output: ['geometry', 'properties', 'assets'] },
  'items.import_stac': { input: ['features'] },
  'items.list': { output: ITEM.map((field) => `items[].${field}`) },
  'items.list_by_collection': { output: ITEM.map((field) => `items[].${field}`) },
  'items.search': { input: ['query'], output: FEATURE },
  'items.search_org': { input: ['query'], output: FEATURE },
  'items.tile.statistics': { input: ['geometry'] },
  'items.update': { input: ['geometry', 'properties'], output: ITEM },
  'mosaic.register': { output: ITEM.map((field) => `item.${field}`) },
  'processing.catalog.estimate': { input: ['inputs'] },
  'processing.catalog.get': { output: ['input_schema', 'output_schema', 'example'] },
  'processing.catalog.validate': { input: ['inputs'] },
  'processing.create': { input: ['input_params'], output: JOB.map((field) => `job.${field}`) },
  'processing.create_and_dispatch': { input: ['input_params'], output: JOB.map((field) => `job.${field}`) },
  'processing.dispatch': { output: JOB.map((field) => `job.${field}`) },
  'processing.execute': { input: ['inputs'], output: [...JOB.map((field) => `job.${field}`), 'outputs'] },
  'processing.job.cancel': { output: JOB.map((field) => `job.${field}`) },
  'processing.job.get': { output: JOB.map((field) => `job.${field}`) },
  'processing.job.register': { input: ['outputs[].geometry'], output: JOB.map((field) => `job.${field}`) },
  'processing.jobs.list': { output: JOB.map((field) => `jobs[].${field}`) },
  'processing.project_job.get': { output: JOB.map((field) => `job.${field}`) },
  'processing.project_jobs.list': { output: JOB.map((field) => `jobs[].${field}`) },
  'stac.search': { input: ['intersects', 'filter', 'query'], output: [...FEATURE, ...FEATURE] },
  'saved_searches.create': { input: ['area'], output: ['saved_search.area'] },
  'saved_searches.get': { output: ['saved_search.area'] },
  'saved_searches.list': { output: ['saved_searches[].area'] },
  'saved_searches.update': { input: ['area'], output: ['saved_search.area'] },
  'maps.create': { input: MAP, output: MAP },
  'maps.get': { output: MAP },
  'maps.update': { input: MAP, output: MAP },
  'share.link.validate': {
    output: ['target.geometry', 'target.items[].geometry', 'target.layers[].features[].geometry', 'target.annotations[].geometry'],
  },
  'orders.advance': { output: ORDER },
  'orders.drafts.get': { output: ['draft.captures[].geometry', 'draft.captures[].scene'] },
  'orders.drafts.save': {
    input: ['captures[].geometry', 'captures[].scene'],
    output: ['draft.captures[].geometry', 'draft.captures[].scene'],
  },
  'orders.archive.estimate': { input: ['captures[].geometry'], output: ['groups[].captures[].geometry'] },
  'orders.archive.place': { input: ['captures[].geometry'], output: ORDER },
  'orders.coverage.get': { output: COVERAGE },
  'orders.coverage.groups.list': { output: COVERAGE.map((field) => `groups[].${field}`) },
  'orders.estimate': { input: ['params', 'featureCollection'] },
  'orders.get': { output: ORDER },
  'orders.get_schema': { output: ['(root)'] }, // A schema of the vendor's.
  'orders.list': { output: ORDER.map((field) => `content[].${field}`) },
  'orders.place': { input: ['params', 'featureCollection'], output: ORDER },
  'orders.tasking.estimate': { input: TASKED },
  'orders.tasking.feasibility_check': { input: ['featureCollection', 'params'] },
  'orders.tasking.opportunities_list': { input: ['featureCollection', 'params'] },
  'orders.tasking.place': { input: TASKED, output: ORDER },
  'orders.tasking.sensors': { output: ['sensors[].dataProducts[].constraints'] },
  'orders.update': { output: ORDER },
  'organizations.create': { input: ['billing_address'], output: ['billing_address'] },
  'organizations.get': { output: ['billing_address'] },
  'organizations.set_billing_mode': { output: ['billing_address'] },
  'organizations.set_public_links': { output: ['billing_address'] },
  'organizations.update': { output: ['billing_address'] },
  'visualization.list_for': { input: ['band_roles', 'render_params'] },
}

// Goal: an extra column cannot leak, because no schema allows unknown members.
test('row 13: every object in every schema is closed, except those that are free-form by intent', () => {
  for (const op of operations.values()) {
    assert.deepEqual(openObjects(op.input), FREE_FORM[op.id]?.input ?? [], `${op.id} input`)
    assert.deepEqual(openObjects(op.output), FREE_FORM[op.id]?.output ?? [], `${op.id} output`)
  }
  for (const { type, data_schema } of EVENT_TYPES) assert.deepEqual(openObjects(data_schema), [], `event ${type}`)
  assert.deepEqual(
    openObjects(Closed({ rows: Type.Array(Type.Object({ id: Type.String() })) })),
    ['rows[]'],
    'the walk itself sees an open object',
  )
})

test('row 13: an output with an undeclared member is an internal error', async (t) => {
  const output = Closed({ rows: Type.Array(Closed({ id: Type.String() })) })
  const row = { id: 'x', password_hash: 'canary-7f3a' }
  const read = operation({
    id: 'test.leaking_read',
    scope: 'items:read',
    tier: 'read',
    input: Closed({}),
    output,
    example: { input: {} },
  }).handle({ execute: async () => ({ rows: [row] }) })
  const write = operation({
    id: 'test.leaking_write',
    scope: 'items:write',
    tier: 'compute',
    input: Closed({}),
    output,
    example: { input: {} },
  }).handle({
    async execute({ tx, principal }) {
      await tx.updateTable('organization').set({ description: 'changed' }).where('id', '=', principal.organizationId).execute()
      return { rows: [row] }
    },
  })
  const w = await world(t, { operations: [read, write] })
  const { owner } = await w.organization()
  const before = await businessDigest(w.db)
  for (const id of ['test.leaking_read', 'test.leaking_write']) {
    const { status, bytes, body } = await w.call(owner.token, id)
    assert.equal(status, 500)
    assert.equal(body.code, 'internal-error')
    assert.ok(!bytes.includes('canary-7f3a') && !bytes.includes('password_hash'))
  }
  assert.equal(await businessDigest(w.db), before, 'what was written beside the bad answer is undone')
})

// Goal: no customer can gain privileges.
test('row 13: no privilege escalation', async (t) => {
  const w = await world(t, { systemAdminEmails: ['boss@example.com'], clipUserEmail: 'clip@example.com', maySignUp: false })
  const { owner, id } = await w.organization()

  await t.test('an operator address cannot be claimed by signing up on a public service', async () => {
    for (const email of ['boss@example.com', 'BOSS@Example.com', 'clip@example.com']) {
      const { status, body } = await w.post('/auth/sign-up', { email, password: 'long enough password', name: 'x' })
      assert.equal(status, 403, email)
      assert.equal(body.code, 'sign-up-refused')
    }
    assert.equal(
      (await w.db.selectFrom('app_user').select('id').where('email', 'in', ['boss@example.com', 'clip@example.com']).execute()).length,
      0,
    )
  })

  await t.test('a key cannot create a more powerful key', async () => {
    const { key } = await w.key(owner.token, ['write'])
    for (const permissions of [['process'], ['read', 'write', 'process']]) {
      const { status, body } = await w.call(key, 'api_keys.create', { name: 'stronger', permissions })
      assert.equal(status, 403)
      assert.equal(body.code, 'forbidden')
    }
    assert.equal((await w.call(key, 'api_keys.create', { name: 'equal', permissions: ['read', 'write'] })).status, 200)
    for (const permissions of [['admin'], ['*'], ['clip'], ['destroy'], ['read', 'admin']])
      assert.equal((await w.call(owner.token, 'api_keys.create', { name: 'x', permissions })).status, 422)
  })

  await t.test('operators cannot store privileged scopes on a key', async () => {
    const service = await w.serviceToken()
    const { id: key_id } = await w.key(owner.token)
    for (const scope of [
      '*',
      '*:read',
      'admin:*',
      'admin:read',
      'clip',
      'clip:',
      ':read',
      'items:read:x',
      'nothing:read',
      'items:fly',
      '',
    ]) {
      const { status, body } = await w.call(service, 'api_keys.set_scopes', { key_id, scopes: ['items:read', scope] })
      assert.equal(status, 422, scope)
      assert.equal(body.errors[0].field, 'scopes')
    }
    assert.deepEqual(
      (await w.db.selectFrom('api_key').select('explicit_scopes').where('id', '=', key_id).executeTakeFirstOrThrow()).explicit_scopes,
      [],
    )
  })

  await t.test('requesting enterprise billing does not enable it', async () => {
    const organization = await w.ok(owner.token, 'organizations.create', { name: 'x', enterprise_billing: true })
    assert.deepEqual(
      [organization.enterprise_billing, organization.enterprise_billing_status, organization.plan],
      [false, 'requested', 'free'],
    )
  })

  await t.test('a member cannot raise their own limits or role', async () => {
    const member = await w.member({ id, owner, projectId: (await w.ok(owner.token, 'projects.list')).projects[0].id }, 'editor')
    assert.equal(
      (
        await w.call(member.token, 'organizations.members.set_spend_limit', {
          organizationId: id,
          userId: member.id,
          perOrderLimitCredits: null,
          spendLimitCredits: null,
        })
      ).status,
      403,
    )
    const { projects } = await w.ok(member.token, 'projects.list')
    assert.equal(
      (await w.call(member.token, 'projects.update_member', { project_id: projects[0].id, user_id: member.id, role: 'admin' })).status,
      403,
    )
    assert.equal(
      (await w.call(member.token, 'projects.add_member', { project_id: projects[0].id, user_id: member.id, role: 'admin' })).status,
      403,
    )
  })
})
