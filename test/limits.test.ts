// Goal: a caller can read every limit before running into it, and the number read is the number enforced.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { test } from 'node:test'
import { STREAM_LIMITS } from '#background/event-stream.ts'
import { CONNECTION_LIMITS } from '#core/connections.ts'
import { MAX_DELIVERED, MAX_WAITING } from '#model/events/delivery.ts'
import { MAX_RUNNING_PER_ORGANIZATION } from '#model/processing/run.ts'
import { operations } from '#registry.ts'
import { MAX_OUTPUT_PIXELS } from '#services/processing/work.ts'
import { HOOK_URL, world } from './support/world.ts'

/** Every number of the response, by its path. */
function* numbers(value: object, at: readonly string[] = []): Generator<readonly [string, unknown]> {
  for (const [name, each] of Object.entries(value))
    if (each !== null && typeof each === 'object') yield* numbers(each, [...at, name])
    else yield [[...at, name].join('/'), each]
}

interface Schema {
  $ref?: string
  description?: string
  properties?: Record<string, Schema>
}

const CLIPPER = 'clipper@example.com'
const RULE = { expression: 'b1', comparison: 'gt', threshold: 0, notification_channels: ['in_app'], cooldown_minutes: 0 }
const json = { 'content-type': 'application/json' }
const padded = (bytes: number) => Buffer.concat([Buffer.from('{}'), Buffer.alloc(bytes - 2, ' ')])

test('GET /v1/limits', async (t) => {
  const w = await world(t, { clipUserEmail: CLIPPER })
  const org = await w.organization()
  const { token } = org.owner
  const answer = await w.request('GET', '/v1/limits')
  assert.equal(answer.status, 200, answer.bytes.toString())
  const limits = answer.body
  const invalid = async (operation: string, input: object, message: RegExp) => {
    const { status, body } = await w.call(token, operation, input)
    assert.deepEqual([status, body.code], [422, 'invalid-input'], `${operation}: ${body.detail}`)
    assert.match(JSON.stringify(body.errors), message)
  }

  await t.test('is public, cached by its tag and readable from other origins', async () => {
    assert.equal(answer.headers.get('access-control-allow-origin'), '*')
    assert.equal(answer.headers.get('cache-control'), 'no-cache')
    const again = await w.request('GET', '/v1/limits', { headers: { 'if-none-match': answer.headers.get('etag')! } })
    assert.deepEqual([again.status, again.bytes.length], [304, 0])
    const posted = await w.request('POST', '/v1/limits', { headers: json, body: '{}' })
    assert.ok(posted.status === 404 || posted.status === 405, String(posted.status))
  })

  await t.test('is what the OpenAPI document and the guide describe', async () => {
    const { paths, components } = (await w.request('GET', '/openapi.json')).body
    const { security, responses } = paths['/v1/limits'].get
    assert.deepEqual(security, [])
    const deref = (schema: Schema): Schema => (schema.$ref ? components.schemas[schema.$ref.split('/').at(-1)!] : schema)
    const schema = deref(responses['200'].content['application/json'].schema)
    const guide = readFileSync(path.join(import.meta.dirname, '../docs/guides/limits.md'), 'utf8')
    assert.deepEqual(Object.keys(schema.properties!).toSorted(), Object.keys(limits).toSorted())
    for (const [group, each] of Object.entries(schema.properties!)) {
      const { properties } = deref(each)
      assert.deepEqual(Object.keys(properties!).toSorted(), Object.keys(limits[group]).toSorted(), group)
      for (const [name, field] of Object.entries(properties!)) {
        assert.ok(field.description, `${group}.${name}`)
        assert.ok(guide.includes(`\`${group}.${name}\``), `the guide lacks ${group}.${name}`)
      }
    }
    for (const [where, value] of numbers(limits)) assert.ok(Number.isSafeInteger(value) && Number(value) >= 0, `${where}: ${String(value)}`)
    for (const [, name, shown] of guide.matchAll(/^\| `([a-z_.]+)` \| ([\d,]+) \|/gm)) {
      const [group, field] = name!.split('.')
      assert.equal(Number(shown!.replaceAll(',', '')), limits[group!][field!], `the guide's ${name}`)
    }
  })

  await t.test('bodies', async () => {
    const { sign_in_bytes, public_bytes, standard_bytes, operations: larger, depth, members } = limits.bodies
    const tooLong = async (address: string, bytes: number) => {
      const { status, limit } = await announce(w.baseUrl, address, { authorization: `Bearer ${token}`, bytes: bytes + 1 })
      assert.deepEqual([status, limit], [413, bytes], address)
    }
    const open = [...operations.values()].find((op) => op.public)!
    await tooLong('/auth/sign-in', sign_in_bytes)
    await tooLong(`/v1/op/${open.id}`, public_bytes)
    await tooLong('/v1/op/projects.list', standard_bytes)
    assert.equal((await w.request('POST', '/v1/op/projects.list', { headers: bearer(token), body: padded(standard_bytes) })).status, 200)
    assert.deepEqual(
      Object.keys(larger).toSorted(),
      [...operations.values()]
        .filter((op) => op.maxBodyBytes !== undefined)
        .map(({ id }) => id)
        .toSorted(),
    )
    for (const [id, bytes] of Object.entries<number>(larger)) await tooLong(`/v1/op/${id}`, bytes)

    const send = (body: string) => w.request('POST', '/v1/op/projects.list', { headers: bearer(token), body })
    const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
    assert.deepEqual([(await send(nested(depth))).status, (await send(nested(depth + 1))).status], [422, 400])
    const wide = (count: number) => JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, k) => [`m${k}`, 1])))
    assert.deepEqual([(await send(wide(members))).status, (await send(wide(members + 1))).status], [422, 400])
  })

  await t.test('expressions', async () => {
    const { characters, depth, bands } = limits.expressions
    const check = async (formula: string) => await w.call(token, 'analytics.validate_formula', { formula })
    const long = (length: number) => `b1${' '.repeat(length - 4)}+1`
    assert.equal((await check(long(characters))).body.valid, true)
    assert.notEqual((await check(long(characters + 1))).body.valid, true)
    const nested = (levels: number) => `${'('.repeat(levels)}b1${')'.repeat(levels)}`
    assert.equal((await check(nested(depth - 1))).body.valid, true, 'the expression itself is the first level')
    assert.match((await check(nested(depth))).body.error, new RegExp(`\\b${depth} levels`))
    const rule = async (band: number) => (await w.call(token, 'alerts.create_rule', { ...RULE, name: 'x', expression: `b${band}` })).status
    assert.deepEqual([await rule(bands), await rule(bands + 1)], [200, 422])
  })

  await t.test('filters', async () => {
    const { terms, depth, geometries, vertices, characters } = limits.filters
    const search = async (filter: unknown, message: RegExp) => await invalid('stac.search', { filter }, message)
    const gsd = { property: 'gsd' }
    const values = (count: number) => ({ op: 'in', args: [gsd, Array.from({ length: count }, (_, k) => k)] })
    await search(values(terms), new RegExp(`at most ${terms} `))
    await invalid(
      'stac.search',
      { query: { gsd: { in: Array.from({ length: terms + 1 }, (_, k) => k) } } },
      new RegExp(`at most ${terms} `),
    )
    const asText = (filter: string) => {
      const body = JSON.stringify({ 'filter-lang': 'cql2-text', filter })
      return w.request('POST', '/stac/search', { headers: bearer(token), body })
    }
    const tooDeep = await asText(`${'NOT ('.repeat(depth + 1)}gsd = 1${')'.repeat(depth + 1)}`)
    assert.equal(tooDeep.status, 400)
    assert.match(tooDeep.bytes.toString(), new RegExp(`deeper than ${depth} levels`))
    const near = (geometry: object) => ({ op: 's_intersects', args: [{ property: 'geometry' }, geometry] })
    const points = Array.from({ length: geometries + 1 }, (_, k) => ({ type: 'Point', coordinates: [k / 10, 0] }))
    await search(near({ type: 'GeometryCollection', geometries: points }), new RegExp(`at most ${geometries} geometries`))
    const needed = Math.ceil((vertices + 1) / (limits.geometries.vertices - 1))
    const each = Math.ceil((vertices + 1) / needed)
    await search({ op: 'or', args: Array.from({ length: needed }, () => near(circle(each))) }, new RegExp(`${vertices} vertices`))
    const long = await asText(`gsd = 1${' '.repeat(characters)}`)
    assert.equal(long.status, 400)
    assert.match(long.bytes.toString(), new RegExp(`at most ${characters} characters`))
  })

  await t.test('vertices of a geometry', async () => {
    const { vertices } = limits.geometries
    const search = async (count: number) => await w.call(token, 'stac.search', { intersects: circle(count) })
    assert.equal((await search(vertices)).status, 200)
    const { status, body } = await search(vertices + 1)
    assert.equal(status, 422)
    assert.match(body.detail, new RegExp(`\\b${vertices}\\b`))
  })

  await t.test('pages: each operation rejects one more than its maximum', async () => {
    const { operations: lists } = limits.pages
    const clipper = await w.join(await w.person(CLIPPER), org, 'admin')
    assert.ok(Object.keys(lists).length > 30, String(Object.keys(lists).length))
    for (const [id, fields] of Object.entries<Record<string, number>>(lists))
      for (const [field, maximum] of Object.entries(fields)) {
        const op = operations.get(id)!
        const { status, body } = await w.call(id.startsWith('clip.') ? clipper.token : token, id, {
          ...(op.example.input as object),
          [field]: maximum + 1,
        })
        assert.equal(status, 422, `${id}.${field}`)
        assert.ok(
          body.errors.some((error: { field: string }) => error.field === field),
          `${id}.${field}: ${body.detail}`,
        )
      }
  })

  await t.test('of an organization: tests of endpoints, webhooks and alert rules', async () => {
    const other = await w.organization()
    const call = (operation: string, input: object) => w.call(other.owner.token, operation, input)
    const { webhooks, alert_rules } = limits.organizations
    const hook = (n: number) =>
      call('event_subscriptions.create', { event_type: 'item.created', endpoint_url: `${HOOK_URL}${n}`, description: `${n}` })
    const first = await hook(0)
    assert.equal(first.status, 200, first.bytes.toString())
    const tests = []
    for (let n = 0; n <= limits.requests.endpoint_tests_per_minute; n++)
      tests.push((await call('event_subscriptions.test', { subscription_id: first.body.id })).status)
    assert.deepEqual(tests, [...Array(limits.requests.endpoint_tests_per_minute).fill(200), 429], 'as many as it says, and then no more')
    for (let n = 1; n < webhooks; n++) assert.equal((await hook(n)).status, 200)
    assert.equal((await hook(webhooks)).status, 400)
    const rule = (n: number) => call('alerts.create_rule', { ...RULE, name: `rule ${n}` })
    for (let n = 0; n < alert_rules; n++) assert.equal((await rule(n)).status, 200)
    const refused = await rule(alert_rules)
    assert.ok(refused.status >= 400)
    assert.equal(refused.body.limit, alert_rules)
  })

  // Exceeding these takes thousands of connections, deliveries or billions of pixels; their own tests do it with smaller figures.
  await t.test('connections, streams, deliveries and pixels are the constants that enforce them', () => {
    assert.deepEqual(limits.connections, { total: CONNECTION_LIMITS.maxConnections, per_address: CONNECTION_LIMITS.maxPerAddress })
    assert.deepEqual(limits.event_streams, {
      total: STREAM_LIMITS.inAll,
      per_organization: STREAM_LIMITS.perOrganization,
      per_user: STREAM_LIMITS.perUser,
      per_address: STREAM_LIMITS.perAddress,
    })
    assert.equal(limits.organizations.pending_deliveries, MAX_WAITING)
    assert.equal(limits.organizations.listed_deliveries, MAX_DELIVERED)
    assert.equal(limits.organizations.running_jobs, MAX_RUNNING_PER_ORGANIZATION)
    assert.equal(limits.jobs.output_pixels, MAX_OUTPUT_PIXELS)
  })
})

const bearer = (token: string) => ({ ...json, authorization: `Bearer ${token}` })

/** A valid ring of so many vertices, the closing one included. */
function circle(vertices: number): object {
  const ring = Array.from({ length: vertices - 1 }, (_, k) => {
    const angle = (k / (vertices - 1)) * 2 * Math.PI
    return [10 + Math.cos(angle), 10 + Math.sin(angle)]
  })
  return { type: 'Polygon', coordinates: [[...ring, ring[0]]] }
}

/** Announces a body of so many bytes without sending it. */
async function announce(baseUrl: string, address: string, { authorization, bytes }: { authorization: string; bytes: number }) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; limit: number }>()
  const request = http.request(new URL(address, baseUrl), {
    method: 'POST',
    headers: { ...json, authorization, 'content-length': String(bytes) },
  })
  request.on('error', reject).on('response', async (response) => {
    const { status, limit } = JSON.parse(Buffer.concat(await response.toArray()).toString())
    resolve({ status, limit })
  })
  request.flushHeaders()
  try {
    return await promise
  } finally {
    request.on('error', () => {}).destroy()
  }
}
