// Goal: spans have the form of OTLP, traceparents are read as W3C says, samplers decide alike everywhere, and a collector that fails
// costs spans only.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentSpan, installTracer, startSpan, statementName, statementText, traced, tracedFrom } from '#core/tracing.ts'
import { samplerOf, SAMPLERS } from '#core/trace-sampler.ts'
import { receiver } from '../../../test/support/receiver.ts'
import { createExporter } from './exporter.ts'
import { createTracer, parentOf, type FinishedSpan } from './tracer.ts'

const ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = `00-${ID}-00f067aa0ba902b7-01`

function recording(t: { after(done: () => void): void }, sampler: (typeof SAMPLERS)[number] = 'always_on', ratio = 1): FinishedSpan[] {
  const spans: FinishedSpan[] = []
  t.after(installTracer(createTracer(samplerOf(sampler, ratio), (span) => spans.push(span))))
  return spans
}

test('a traceparent is read as W3C Trace Context says', () => {
  assert.deepEqual(parentOf(PARENT), { traceId: ID, spanId: '00f067aa0ba902b7', isSampled: true })
  assert.equal(parentOf(PARENT.replace(/01$/, '00'))!.isSampled, false)
  assert.equal(parentOf(PARENT.replace(/01$/, '03'))!.isSampled, true)
  assert.equal(parentOf(`cc-${PARENT.slice(3)}-later`)!.traceId, ID, 'a later version can have more parts')
  for (const invalid of [
    null,
    '',
    'junk',
    `${PARENT}-more`,
    `ff-${PARENT.slice(3)}`,
    PARENT.toUpperCase(),
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${ID}-${'0'.repeat(16)}-01`,
    ` ${PARENT}`,
  ])
    assert.equal(parentOf(invalid), null, String(invalid))
})

test('parts of a span are its children, and errors show their kind only', async (t) => {
  const spans = recording(t)
  await assert.rejects(
    tracedFrom(
      PARENT,
      'task',
      async () => {
        await traced(
          'part',
          async () => {},
          () => ({ kind: 'client', attributes: { whole: 1, half: 0.5, is: true, text: 'a' } }),
        )
        throw new TypeError('about a@example.com')
      },
      () => ({ kind: 'consumer' }),
    ),
    TypeError,
  )
  const [part, task] = spans
  assert.deepEqual([part!.parentSpanId, task!.parentSpanId], [task!.spanId, '00f067aa0ba902b7'])
  assert.deepEqual([part!.kind, task!.kind, task!.status.code], [3, 5, 2])
  assert.deepEqual(part!.attributes, [
    { key: 'whole', value: { intValue: '1' } },
    { key: 'half', value: { doubleValue: 0.5 } },
    { key: 'is', value: { boolValue: true } },
    { key: 'text', value: { stringValue: 'a' } },
  ])
  assert.ok(!JSON.stringify(spans).includes('example.com'))
})

test('outside of a span, and after its end, nothing is recorded', async (t) => {
  const spans = recording(t)
  await traced('alone', async () => {})
  assert.equal(spans.length, 0)
  let later: Promise<void> | null = null
  const { promise, resolve } = Promise.withResolvers<void>()
  await tracedFrom(
    null,
    'call',
    async () => void (later = promise.then(() => traced('shared', async () => {}))),
    () => ({}),
  )
  resolve()
  await later
  assert.deepEqual(
    spans.map(({ name }) => name),
    ['call'],
  )
})

test('samplers', (t) => {
  const sampled = (name: (typeof SAMPLERS)[number], parent: boolean | null, ratio = 0.25) => samplerOf(name, ratio)(ID, parent)
  assert.deepEqual(
    SAMPLERS.map((name) => [sampled(name, null, 0), sampled(name, null, 1), sampled(name, true, 0), sampled(name, false, 1)]),
    [
      [true, true, true, true],
      [false, false, false, false],
      [false, true, false, true],
      [true, true, true, false],
      [false, false, true, false],
      [false, true, true, false],
    ],
  )
  const spans = recording(t, 'traceidratio', 0.25)
  for (let n = 0; n < 4_000; n++) startSpan('call', null)!.end()
  assert.ok(spans.length > 800 && spans.length < 1_200, `${spans.length} of 4,000`)
  const unsampled = createTracer(samplerOf('always_off', 1), () => assert.fail('recorded')).start('call', PARENT, {})
  assert.match(unsampled.traceparent, new RegExp(`^00-${ID}-[0-9a-f]{16}-00$`), 'others learn that it is not recorded')
  unsampled.end()
})

test('statements are shown without their values', () => {
  assert.equal(
    statementText("select * from a where b = 'it''s' and c = $1 and d > 12.5 limit 3"),
    'select * from a where b = ? and c = $1 and d > ? limit ?',
  )
  assert.equal(statementText('select $tag$ secret $tag$, table_1.c2'), 'select ?, table_1.c2')
  assert.equal(statementText(`select 1, '${'x'.repeat(5_000)}`), 'select ?, ?', 'also where the text is cut')
  assert.equal(statementName('/* filtered */ with a as (select 1) select'), 'with')
  assert.equal(currentSpan(), null)
})

test('spans are sent in batches, again after a failure that passes, and dropped after one that does not', async (t) => {
  const answers = [503, 200, 400]
  const backend = await receiver(t, (_received, response) => response.writeHead(answers.shift() ?? 200).end('{}'))
  const errors: string[] = []
  const exporter = createExporter({
    url: `http://${backend.host}/v1/traces`,
    headers: { authorization: 'Bearer a' },
    resource: { 'service.name': 'test' },
    version: '1',
    onError: (message) => errors.push(message),
  })
  const tracer = createTracer(samplerOf('always_on', 1), exporter.add)
  for (const name of ['first', 'second']) tracer.start(name, null, {}).end()
  await backend.until(2)
  assert.deepEqual(
    backend.received.map(({ path, headers, body }) => [
      path,
      headers.authorization,
      body.resourceSpans[0].scopeSpans[0].spans.map(({ name }: FinishedSpan) => name),
    ]),
    [
      ['/v1/traces', 'Bearer a', ['first', 'second']],
      ['/v1/traces', 'Bearer a', ['first', 'second']],
    ],
  )
  tracer.start('third', null, {}).end()
  await exporter.close()
  assert.equal(backend.received.length, 3)
  assert.deepEqual(errors, ['1 spans could not be sent to the collector so far: HTTP 400'])
})
