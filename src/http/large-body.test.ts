import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { Answer } from './large-body.ts'

// Goal: bugs in the thread are logged; only errors of the body itself are returned to the sender.
test('the thread that parses large bodies distinguishes bugs from invalid bodies', async (t) => {
  const thread = new Worker(new URL('./body-thread.ts', import.meta.url))
  t.after(() => thread.terminate())
  const ask = async (bytes: unknown): Promise<Answer> => {
    thread.postMessage({ id: 1, bytes })
    return (await once(thread, 'message'))[0] as Answer
  }
  const fault = await ask(null)
  assert.ok('fault' in fault && fault.fault instanceof TypeError, JSON.stringify(fault))
  const refusal = await ask(Buffer.from('{'))
  assert.ok('refusal' in refusal && refusal.refusal.slug === 'invalid-json', JSON.stringify(refusal))
})
