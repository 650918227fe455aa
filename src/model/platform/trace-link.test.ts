// Goal: links of traces are removed after a week, are written only within a span, and lead a task to the trace that queued it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { createTracer, type FinishedSpan } from '#adapters/tracing/tracer.ts'
import sweep from '#background/sweep.task.ts'
import { newId } from '#core/ids.ts'
import { installTracer, tracedFrom } from '#core/tracing.ts'
import { samplerOf } from '#core/trace-sampler.ts'
import { world } from '../../../test/support/world.ts'
import * as traceLinks from './trace-link.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'

test('links of traces', async (t) => {
  const w = await world(t)
  const ids = async () => (await w.db.selectFrom('trace_link').select('id').execute()).map(({ id }) => id)

  await t.test('without a tracer nothing is written or read', async () => {
    const id = newId()
    await w.db.transaction().execute((tx) => traceLinks.write(tx, [id]))
    assert.deepEqual(await ids(), [])
    assert.equal(await traceLinks.find(w.db, id), null)
  })

  await t.test('a queued task finds the trace of its caller', async (inner) => {
    const spans: FinishedSpan[] = []
    inner.after(installTracer(createTracer(samplerOf('always_on', 1), (span) => spans.push(span))))
    const id = newId()
    const outside = newId()
    await w.db.transaction().execute((tx) => traceLinks.write(tx, [outside]))
    const write = () => w.db.transaction().execute((tx) => traceLinks.write(tx, [id]))
    await tracedFrom(`00-${TRACE}-00f067aa0ba902b7-01`, 'call', write, () => ({}))
    assert.equal(await traceLinks.find(w.db, outside), null)
    const call = spans.find(({ name }) => name === 'call')!
    assert.equal(await traceLinks.find(w.db, id), `00-${TRACE}-${call.spanId}-01`)
    const insert = spans.find(({ name }) => name === 'insert')!
    assert.equal(insert.parentSpanId, call.spanId)
    assert.ok(!JSON.stringify(insert).includes(id), 'the values of a statement are not in its span')
    assert.deepEqual(
      spans.map(({ name }) => name).filter((name) => name !== 'call'),
      ['begin', 'insert', 'commit'],
    )
  })

  await t.test('the sweep removes those of more than a week ago', async () => {
    const [old, young] = [newId(), newId()]
    const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`
    const add = (id: string, age: string) =>
      sql`insert into trace_link (id, traceparent, created_at) values (${id}, ${traceparent}, now() - ${age}::interval)`.execute(w.db)
    await add(old, '169 hours')
    await add(young, '167 hours')
    await w.runTask(sweep)
    const left = await ids()
    assert.ok(left.includes(young) && !left.includes(old))
  })
})
