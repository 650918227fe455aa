import assert from 'node:assert/strict'
import { test } from 'node:test'
import { STATES, standingOf } from './states.ts'

/** Every state of Planet's documents, with files and without. */
const TABLE: Record<string, [withFiles: string, without: string]> = {
  queued: ['placed', 'placed'],
  running: ['accepted', 'accepted'],
  success: ['delivered', 'accepted'],
  partial: ['part', 'accepted'],
  failed: ['failed', 'failed'],
  cancelled: ['cancelled', 'cancelled'],
}

// Goal: each state means one thing, a delivery needs files, and a state that nobody knows fails no order.
test('states of orders at Planet', () => {
  assert.deepEqual(Object.keys(STATES).toSorted(), Object.keys(TABLE).toSorted())
  for (const [state, [withFiles, without]] of Object.entries(TABLE)) {
    assert.deepEqual(standingOf(state, true), { status: withFiles, unknownStatus: null }, state)
    assert.deepEqual(standingOf(state, false), { status: without, unknownStatus: null }, state)
  }
  for (const state of ['SUCCESS', 'constructor', ''])
    for (const hasFiles of [true, false]) assert.deepEqual(standingOf(state, hasFiles), { status: 'accepted', unknownStatus: state })
})
