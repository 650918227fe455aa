import assert from 'node:assert/strict'
import { test } from 'node:test'
import { STATES, standingOf } from './states.ts'

/** Every code of the standard, with a file and without one. */
const TABLE: Record<string, [withFile: string, without: string]> = {
  received: ['placed', 'placed'],
  held: ['placed', 'placed'],
  reserved: ['placed', 'placed'],
  accepted: ['accepted', 'accepted'],
  scheduled: ['accepted', 'accepted'],
  tasked: ['accepted', 'accepted'],
  processing: ['accepted', 'accepted'],
  completed: ['delivered', 'accepted'],
  rejected: ['failed', 'failed'],
  failed: ['failed', 'failed'],
  expired: ['failed', 'failed'],
  cancelled: ['failed', 'failed'],
  user_cancelled: ['cancelled', 'cancelled'],
}

// Goal: each code means one thing, a delivery needs a file, and a code that nobody knows fails no order.
test('states of STAPI', () => {
  assert.deepEqual(Object.keys(STATES).toSorted(), Object.keys(TABLE).toSorted())
  for (const [code, [withFile, without]] of Object.entries(TABLE)) {
    assert.deepEqual(standingOf(code, true), { status: withFile, unknownStatus: null }, code)
    assert.deepEqual(standingOf(code, false), { status: without, unknownStatus: null }, code)
  }
  for (const code of ['polished', 'constructor', ''])
    for (const hasFile of [true, false]) assert.deepEqual(standingOf(code, hasFile), { status: 'accepted', unknownStatus: code })
})
