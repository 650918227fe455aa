import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { COUNTED_STATUSES, TABLE } from '#contract/table.ts'
import type { AnyOperation } from '#operation.ts'
import { validatorOf } from '#core/validate.ts'
import { departuresOf, operations } from '#registry.ts'
import { world } from './support/world.ts'

const domainsDir = path.join(import.meta.dirname, '../src/domains')

// Goal: the ID of an operation is the path of its file, and every operation is registered.
test('a file’s path is its id', () => {
  const files = readdirSync(domainsDir).flatMap((domain) =>
    readdirSync(path.join(domainsDir, domain))
      .filter((file) => file.endsWith('.ts') && !/\.(test|task|lib)\.ts$/.test(file) && file !== 'index.ts' && !file.endsWith('wire.ts'))
      .map((file) => `${domain}.${file.replace(/\.ts$/, '')}`),
  )
  assert.deepEqual(files.toSorted(), [...operations.keys()].toSorted())
  const tests = globSync('*/*.test.ts', { cwd: domainsDir })
    .map((file) => readFileSync(path.join(domainsDir, file), 'utf8'))
    .join('\n')
  for (const id of operations.keys()) assert.ok(tests.includes(`'${id}'`), `${id} is called by a test in src/domains`)
})

// Goal: operations match the table, and a difference in any column is found.
test('every operation matches its row of the table', async (t) => {
  for (const op of operations.values()) assert.deepEqual(departuresOf(op.id.split('.')[0]!, op), [], op.id)
  const sound = operations.get('projects.create')!
  const planted: Record<string, Partial<AnyOperation>> = {
    id: { id: 'projects.invented' },
    scope: { scope: 'items:read' },
    tier: { tier: 'read' },
    public: { public: true },
    raw: { raw: 'bytes' },
    idempotent: { idempotent: true },
    produces: { produces: [] },
    'another relation': { produces: ['project:ordered'] },
    events: { events: ['project.created', 'item.deleted'] },
  }
  for (const [what, change] of Object.entries(planted))
    await t.test(`a planted difference: ${what}`, () =>
      assert.equal(departuresOf('projects', { ...sound, ...change } as AnyOperation).length, 1),
    )
  await t.test('a planted difference: domain', () => assert.equal(departuresOf('items', sound).length, 1))
})

// Goal: no write that changes what a credential can access, and no operation for workers, forgets to declare it; none declares it wrongly.
test('operations declare that they change access, and that workers can call them', () => {
  const ids = (has: (op: AnyOperation) => unknown) => [...operations.values()].filter(has).map(({ id }) => id)
  const domains = ['api_keys', 'organizations', 'projects']
  assert.deepEqual(
    ids(({ changesAccess }) => changesAccess),
    ids(({ id, tier }) => tier !== 'read' && domains.includes(id.split('.')[0]!)),
  )
  assert.deepEqual(
    ids(({ callableByWorkers }) => callableByWorkers),
    ['processing.job.register'],
  )
})

/** The specification's scope catalogue. */
const SCOPE_COUNTS: Record<string, number> = {
  'items:read': 22,
  'items:write': 10,
  'catalog:read': 14,
  'tiles:read': 16,
  'collections:read': 2,
  'collections:write': 3,
  'band_formulas:read': 2,
  'band_formulas:write': 3,
  'orders:read': 14,
  'orders:write': 9,
  'processing:read': 9,
  'processing:process': 6,
  'analytics:read': 6,
  'analytics:process': 3,
  'clip:read': 9,
  'clip:write': 1,
  'clip:destroy': 2,
  'uploads:write': 5,
  'provenance:read': 1,
  'reports:read': 1,
  'usage:read': 2,
  'usage:write': 1,
  'projects:write': 7,
  'organizations:write': 1,
  'shares:read': 3,
  'shares:write': 2,
  'alerts:read': 4,
  'alerts:write': 4,
  'event_subscriptions:read': 2,
  'event_subscriptions:write': 4,
  'notifications:read': 2,
  'notifications:write': 3,
  'billing:read': 11,
  'billing:write': 10,
  'eulas:read': 4,
  'eulas:write': 1,
  'api_keys:read': 1,
  'api_keys:write': 2,
}
/** docs/decisions.md G2: the catalogue sums to 202; these three are the rest. */
const OUTSIDE_THE_CATALOGUE = ['mosaic.register', 'organizations.members.set_spend_limit', 'organizations.members.list']
/** The specification's list of operations that take an Idempotency-Key. */
const IDEMPOTENT = [
  'orders.archive.place',
  'orders.place',
  'orders.cancel',
  'orders.tasking.place',
  'orders.tasking.feasibility_decide',
  'orders.tasking.quotation_decide',
  'processing.create',
  'processing.create_and_dispatch',
  'processing.dispatch',
  'processing.execute',
  'processing.job.register',
  'clip.create_from_item',
  'clip.create_from_area',
  'billing.topup',
  'billing.approvals.approve',
  'billing.run_monthly_for_org',
  'mosaic.register',
]
const PUBLIC = ['share.link.validate', 'share.tile.render', 'share.tilejson', 'catalog.tile.render']

// Goal: the table itself is the specification's: 205 operations in 28 domains, with its counts and lists.
test('the table matches the specification', () => {
  const counted = [...TABLE.values()].filter((row) => COUNTED_STATUSES.includes(row.status))
  assert.equal(counted.length, 205)
  assert.equal(new Set(counted.map(({ domain }) => domain)).size, 28)
  const counts: Record<string, number> = {}
  for (const { id, scope } of counted) if (!OUTSIDE_THE_CATALOGUE.includes(id)) counts[scope] = (counts[scope] ?? 0) + 1
  assert.deepEqual(counts, SCOPE_COUNTS)
  assert.equal(
    Object.values(SCOPE_COUNTS).reduce((sum, count) => sum + count),
    202,
  )
  assert.deepEqual(
    counted
      .filter(({ idempotent }) => idempotent)
      .map(({ id }) => id)
      .toSorted(),
    IDEMPOTENT.toSorted(),
  )
  assert.equal(counted.filter(({ tier }) => tier === 'external_spend').length, 16)
  for (const id of PUBLIC) assert.equal(TABLE.get(id)?.public, true, id)
  for (const row of TABLE.values()) {
    assert.equal(row.domain, row.id.split('.')[0])
    assert.equal(row.status === 'operator', row.scope.startsWith('admin:'), row.id)
    assert.ok(row.summary.length > 0, row.id)
  }
})

test('examples match their schemas', () => {
  for (const op of operations.values()) {
    assert.deepEqual(validatorOf(op.input).Errors(op.example.input), [], `${op.id} input`)
    if (op.raw === 'bytes' || op.raw === 'xml') continue // Pictures and documents are shown by their media type alone.
    assert.notEqual(op.example.output, undefined, `${op.id} shows an answer`)
    assert.deepEqual(validatorOf(op.output).Errors(op.example.output), [], `${op.id} output`)
  }
})

// Goal: each operation has two URLs and one method; operations that are not built return 404.
test('URLs and methods', async (t) => {
  const w = await world(t)
  const { owner } = await w.organization()
  const headers = { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json' }
  const unbuilt = [...TABLE.keys()].filter((id) => !operations.has(id))

  await t.test('an operation that is not built is 404 at both URLs, for every caller', async () => {
    const invented = (await w.call(null, 'no.such.operation')).body
    for (const id of [...unbuilt, 'projects', 'projects.', '.create', 'projects.create.x']) {
      for (const address of [`/v1/op/${id}`, `/v1/${id.replaceAll('.', '/')}`]) {
        const { status, body } = await w.request('POST', address, { headers, body: '{}' })
        assert.equal(status, 404, address)
        assert.match(body.detail, /^No such operation; (GET \/openapi.json lists all operations|did you mean [a-z_.]+\?)$/, address)
        if (unbuilt.includes(id))
          assert.deepEqual({ ...body, instance: '', detail: '' }, { ...invented, instance: '', detail: '' }, address)
      }
    }
  })
  await t.test('a misspelt operation gets a suggestion, but never an operator operation', async () => {
    assert.equal((await w.call(null, 'project.list')).body.detail, 'No such operation; did you mean projects.list?')
    assert.match((await w.call(null, 'billing.credits.grnt')).body.detail, /openapi.json/)
  })
  await t.test('both path forms work; mixtures do not', async () => {
    for (const { id, public: isPublic } of operations.values())
      for (const address of [`/v1/op/${id}`, `/v1/${id.replaceAll('.', '/')}`])
        assert.equal((await w.request('POST', address)).status, isPublic ? 422 : 401, address)
    for (const address of [
      '/v1/projects.list',
      '/v1/op/projects/list',
      '/v1/op/projects.list/',
      '/v2/op/projects.list',
      '/op/projects.list',
      '/v1/OP/projects.list',
      '/v1/op/Projects.List',
      '/v1/op//projects.list',
    ])
      assert.equal((await w.request('POST', address, { headers, body: '{}' })).status, 404, address)
  })
  await t.test('other methods are 405 with Allow: POST', async () => {
    for (const address of ['/v1/op/projects.list', '/v1/projects/list'])
      for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']) {
        const answer = await w.request(method, address, { headers: { authorization: headers.authorization } })
        assert.equal(answer.status, 405, `${method} ${address}`)
        assert.equal(answer.headers.get('allow'), 'POST')
        if (method !== 'HEAD') assert.equal(answer.body.code, 'method-not-allowed')
      }
  })
  await t.test('every problem type has its page, and event types need a credential', async () => {
    const { body } = await w.call(null, 'projects.list')
    assert.match((await w.request('GET', new URL(body.type).pathname)).bytes.toString(), /unauthorized/)
    assert.equal((await w.request('GET', '/v1/event-types')).status, 401)
    const listed = (await w.request('GET', '/v1/event-types', { headers: { authorization: headers.authorization } })).body.event_types
    const stated = [...new Set([...TABLE.values()].flatMap(({ events }) => events))]
    for (const type of stated)
      assert.ok(
        listed.some((entry: { type: string }) => entry.type === type),
        type,
      )
    assert.ok(listed.every((entry: { data_schema: { type: string } }) => entry.data_schema.type === 'object'))
  })
})

type Json = Record<string, any> // oxlint-disable-line typescript/no-explicit-any

// Goal: the published document has every operation that customers can call, with what a generated client needs.
test('the OpenAPI document', async (t) => {
  const w = await world(t)
  const { status, body, headers } = await w.request('GET', '/openapi.json')
  const document = body as Json
  assert.equal(status, 200)
  assert.equal((await w.request('GET', '/openapi.json', { headers: { 'if-none-match': headers.get('etag')! } })).status, 304)
  assert.deepEqual([document['openapi'], document['info'].version, document['servers'][0].url], ['3.1.0', '2.0.0', w.baseUrl])
  assert.deepEqual(Object.keys(document['components'].securitySchemes).toSorted(), ['apiKey', 'bearer'])
  assert.deepEqual(document['security'], [{ bearer: [] }, { apiKey: [] }])

  await t.test('has every published operation and no operator one', () => {
    const published = [...operations.keys()].filter((id) => TABLE.get(id)!.status !== 'operator')
    assert.deepEqual(
      Object.keys(document['paths'])
        .filter((address) => address.startsWith('/v1/op/'))
        .toSorted(),
      published.map((id) => `/v1/op/${id}`).toSorted(),
    )
    assert.ok(
      operations.has('api_keys.set_scopes') &&
        !JSON.stringify(document).includes('set_scopes') &&
        !JSON.stringify(document).includes('admin:'),
    )
  })
  await t.test('each with tier, scope, schemas and examples', () => {
    for (const op of operations.values()) {
      const described = document['paths'][`/v1/op/${op.id}`]?.post as Json | undefined
      if (!described) continue
      assert.deepEqual(
        [
          described['operationId'],
          described['x-side-effect'],
          described['x-required-scope'],
          described['x-public'],
          described['x-idempotent'],
          described['x-raw'],
        ],
        [op.id, op.tier, op.scope, op.public ?? false, op.idempotent ?? false, op.raw ?? 'json'],
      )
      const request = described['requestBody'].content['application/json']
      const answer = Object.values(described['responses']['200'].content as Json)[0]
      assert.deepEqual(request.example, op.example.input)
      assert.deepEqual(answer.example, op.example.output)
      assert.ok(request.schema && answer.schema)
      for (const code of ['400', '401', '403', '404', '422', '429', '500']) assert.ok(described['responses'][code], `${op.id} ${code}`)
    }
    const limits = document['components'].schemas['OrganizationsMembersSetSpendLimitRequest']
    assert.ok(
      ['perOrderLimitCredits', 'spendLimitCredits'].every((field) => limits.required.includes(field)),
      'both caps are asked for (docs/decisions.md G171)',
    )
  })
  await t.test('every $ref resolves, and no internal notation is left', () => {
    const references: string[] = []
    JSON.stringify(document, (key, value) => {
      if (key === '$ref') references.push(value as string)
      return value as unknown
    })
    assert.ok(references.length > 50)
    for (const reference of new Set(references)) {
      const target = reference
        .replace(/^#\//, '')
        .split('/')
        .reduce<Json | undefined>((node, part) => node?.[part.replaceAll('~1', '/').replaceAll('~0', '~')] as Json | undefined, document)
      assert.notEqual(target, undefined, reference)
      assert.notEqual(target!['$ref'], reference, 'a shape is not only a pointer to itself')
    }
    assert.doesNotMatch(JSON.stringify(document), /"\$id"|x-documented-required|"~/)
  })
})
