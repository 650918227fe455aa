// Goal: one trace shows an order from the request to the webhook, through the queue, the vendor and the raster processes, as a
// collector receives it; nothing in it is a secret, a value of a statement or about a person; and without the setting there is none.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { openDatabase } from '#db/open.ts'
import { sql } from 'kysely'
import { call, createOwner, ok, PASSWORD } from './support/client.ts'
import { createDatabase } from './support/database.ts'
import { square } from './orders/support.ts'
import { freePort } from './support/port.ts'
import { receiver } from './support/receiver.ts'
import { openLab, until } from './support/service.ts'

interface Exported {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number | string
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes?: { key: string; value: Record<string, unknown> }[]
  status?: { code?: number }
}

interface Envelope {
  resourceSpans: { resource: { attributes: Exported['attributes'] }; scopeSpans: { spans: Exported[] }[] }[]
}

const attribute = (span: Exported, name: string): unknown => Object.values(span.attributes?.find(({ key }) => key === name)?.value ?? {})[0]
const spansIn = (envelopes: readonly Envelope[]): Exported[] =>
  envelopes.flatMap(({ resourceSpans }) => resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)))

const OTELCOL = process.env['OTELCOL'] ?? 'otelcol'
const hasCollector = spawnSync(OTELCOL, ['--help']).status === 0
const EMAIL = 'click@example.com'
const CLICK = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
const TOKEN = 'collector-secret-0123456789'

/** A real OpenTelemetry collector that passes on what it gets; returns its address. */
async function startCollector(t: TestContext, target: string): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'otelcol-'))
  const port = await freePort()
  const settings = path.join(folder, 'otelcol.yaml')
  writeFileSync(
    settings,
    `receivers: { otlp: { protocols: { http: { endpoint: '127.0.0.1:${port}' } } } }
exporters: { otlphttp: { endpoint: '${target}', encoding: json, compression: none, tls: { insecure: true } } }
service:
  telemetry: { metrics: { level: none }, logs: { level: warn } }
  pipelines: { traces: { receivers: [otlp], exporters: [otlphttp] } }
`,
  )
  const collector = spawn(OTELCOL, ['--config', `file:${settings}`], { stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  collector.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  const gone = new Promise<void>((resolve) => collector.once('close', () => resolve()))
  t.after(async () => {
    collector.kill('SIGTERM')
    await gone
    rmSync(folder, { recursive: true })
  })
  const url = `http://127.0.0.1:${port}`
  await until('the collector', async () => {
    assert.equal(collector.exitCode, null, output)
    return (
      await fetch(`${url}/v1/traces`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }).catch(() => null)
    )?.ok
  })
  return url
}

async function orderIn(t: TestContext, endpoint: string, hook: Awaited<ReturnType<typeof receiver>>) {
  const own = await createDatabase()
  const lab = openLab()
  t.after(async () => {
    await lab.close()
    await own.drop()
  })
  const env = { DATABASE_URL: own.url, DATA_DIR: lab.dataDir(), DEMO: '0', SANDBOX_DELIVERY_SECONDS: '1', EGRESS_ALLOW: hook.host }
  const tracing = {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${TOKEN}`,
    OTEL_SERVICE_NAME: 'imagery',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  }
  const service = await lab.start({ env: { ...env, LOG_LEVEL: 'info', ...(endpoint ? tracing : {}) } })
  const { baseUrl } = service
  const { token } = await createOwner(baseUrl, EMAIL)
  await ok(baseUrl, token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa' })
  await ok(baseUrl, token, 'billing.topup', { aud_cents: 1_000_000 })
  const { id: projectId } = await ok(baseUrl, token, 'projects.create', { name: 'Deliveries' })
  const { features } = await ok(baseUrl, token, 'catalog.search', { host_name: 'sandbox-hr', intersects: square(), limit: 1 })
  for (const { id } of (await ok(baseUrl, token, 'eulas.list')).content) {
    const { content } = await ok(baseUrl, token, 'eulas.documents.list', { eula_id: id })
    await ok(baseUrl, token, 'eulas.document.accept', { eula_id: id, document_id: content[0].id })
  }
  const { secret } = await ok(baseUrl, token, 'event_subscriptions.create', { event_type: 'order.fulfilled', endpoint_url: hook.url })
  const input = { projectId, displayName: 'Secret harvest', captures: [{ id: features[0].id, geometry: square(), host: 'sandbox-hr' }] }
  const traceparent = `00-${CLICK.traceId}-${CLICK.spanId}-01`
  const placed = await call(baseUrl, token, 'orders.archive.place', input, { 'idempotency-key': 'key-of-a-click', traceparent })
  assert.equal(placed.status, 200, placed.text)
  await hook.until(1)
  return {
    own,
    service,
    placed,
    secrets: [token, secret, PASSWORD, EMAIL, 'pm_card_visa', 'Secret harvest', 'key-of-a-click', TOKEN, '/hook'],
  }
}

async function completeTrace(t: TestContext, through: (target: string) => Promise<string>): Promise<void> {
  const hook = await receiver(t)
  const backend = await receiver(t, (_received, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  const endpoint = await through(`http://${backend.host}`)
  const { own, service, placed, secrets } = await orderIn(t, endpoint, hook)
  const envelopes = () => backend.received.map(({ body }) => body as Envelope)
  const trace = () => spansIn(envelopes()).filter(({ traceId }) => traceId === CLICK.traceId)
  const [delivered] = hook.received
  const sent = /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/.exec(String(delivered!.headers['traceparent']))
  assert.equal(sent?.[1], CLICK.traceId, 'the receiver can continue the trace')
  await until('the span of the webhook', () => trace().some(({ name }) => name === 'webhook order.fulfilled'))
  const exit = await service.kill('SIGTERM') // What is left is sent when the process stops.
  assert.deepEqual(exit, { code: 0, signal: null }, service.output())
  await until('the last spans', () => trace().some(({ name }) => name === 'task orders.deliver'))

  const spans = trace()
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const named = (name: string) => spans.filter((span) => span.name === name)
  /** The names from a span up to the request. */
  const pathOf = (span: Exported): string[] => {
    const parent = byId.get(span.parentSpanId!)
    return parent ? [span.name, ...pathOf(parent)] : [span.name]
  }
  const [root] = named('POST /v1/*')
  assert.equal(root!.parentSpanId, CLICK.spanId, 'the request continues the trace of the click')
  assert.deepEqual([attribute(root!, 'http.route'), Number(attribute(root!, 'http.response.status_code'))], ['/v1/*', 200])
  for (const span of spans) {
    if (span !== root) assert.ok(byId.has(span.parentSpanId!), `${span.name} hangs in the air`)
    assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano))
  }
  const [operation] = named('orders.archive.place')
  assert.equal(attribute(operation!, 'groundtrack.invocation_id'), placed.invocationId)
  for (const stage of ['authenticate', 'input', 'permit', 'idempotency', 'check', 'prepare', 'execute'])
    assert.deepEqual(pathOf(named(`stage ${stage}`)[0]!).slice(1), ['orders.archive.place', 'POST /v1/*'], stage)
  const statement = spans.find((span) => span.name === 'insert' && pathOf(span)[1] === 'stage execute')
  assert.equal(attribute(statement!, 'db.system.name'), 'postgresql')
  assert.match(String(attribute(statement!, 'db.query.text')), /insert into .*\$1/)
  for (const task of ['orders.place', 'orders.poll', 'orders.deliver'])
    assert.equal(pathOf(named(`task ${task}`)[0]!).at(-1), 'POST /v1/*', task)
  const vendor = spans.find((span) => span.name === 'POST' && pathOf(span)[1] === 'task orders.place')
  assert.match(String(attribute(vendor!, 'server.address')), /^127\.0\.0\.1:\d+$/)
  const child = spans.find(({ name }) => name.startsWith('raster child '))
  assert.match(pathOf(child!).join(' < '), /^raster child (\w+) < raster \1 < .*task orders\.deliver < .*POST \/v1\/\*$/)
  const [webhook] = named('webhook order.fulfilled')
  assert.match(pathOf(webhook!).join(' < '), /^webhook order\.fulfilled < .*task orders\.deliver < /)
  assert.deepEqual(pathOf(byId.get(sent![2]!)!).slice(0, 2), ['POST', 'webhook order.fulfilled'], 'and it hangs below our request')

  const resource = envelopes()[0]!.resourceSpans[0]!.resource.attributes!
  const described = new Map(resource.map(({ key, value }) => [key, Object.values(value)[0]]))
  assert.deepEqual([described.get('service.name'), described.get('deployment.environment.name')], ['imagery', 'test'])
  const everything = backend.received.map(({ text }) => text).join('\n')
  for (const secret of secrets) assert.ok(!everything.includes(secret), `a span contains '${secret}'`)
  assert.ok(!spansIn(envelopes()).some(({ name }) => /\/(health|ready|metrics)/.test(name)), 'probes are not traced')
  assert.match(service.output(), new RegExp(`"operation":"orders.archive.place".*"trace":"${CLICK.traceId}"`), 'the log names the trace')

  const { db, close } = openDatabase(own.url, { maxConnections: 2 })
  t.after(close)
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from trace_link`.execute(db)
  assert.ok(rows[0]!.count > 3)
}

test('a trace of one order, from the request to the webhook', async (t) => {
  await completeTrace(t, async (target) => target)
})

test(
  'the same through an OpenTelemetry collector',
  { skip: hasCollector ? false : `no collector: install otelcol, or name one in OTELCOL` },
  async (t) => {
    await completeTrace(t, (target) => startCollector(t, target))
  },
)

test('without the setting nothing is traced, sent or stored', async (t) => {
  const hook = await receiver(t)
  const { own, service } = await orderIn(t, '', hook)
  assert.equal(hook.received[0]!.headers['traceparent'], undefined)
  assert.ok(!service.output().includes('"trace":'))
  const { db, close } = openDatabase(own.url, { maxConnections: 2 })
  t.after(close)
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from trace_link`.execute(db)
  assert.equal(rows[0]!.count, 0)
})
