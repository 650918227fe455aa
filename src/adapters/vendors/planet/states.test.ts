import assert from 'node:assert/strict'
import { test } from 'node:test'
import { STATES, standingOf, TASKING_STATES } from './states.ts'

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

const TASKING: Record<string, [withFiles: string, without: string]> = {
  RECEIVED: ['placed', 'placed'],
  REQUESTED: ['placed', 'placed'],
  PENDING: ['placed', 'placed'],
  IN_PROGRESS: ['accepted', 'accepted'],
  FINALIZING: ['accepted', 'accepted'],
  PENDING_CANCELLATION: ['accepted', 'accepted'],
  FULFILLED: ['delivered', 'accepted'],
  REJECTED: ['failed', 'failed'],
  FAILED: ['failed', 'failed'],
  EXPIRED: ['failed', 'failed'],
  CANCELLED: ['cancelled', 'cancelled'],
}

// Goal: the same for tasking orders, whose images must be ordered before they can be delivered.
test('states of tasking orders at Planet', () => {
  assert.deepEqual(Object.keys(TASKING_STATES).toSorted(), Object.keys(TASKING).toSorted())
  for (const [state, [withFiles, without]] of Object.entries(TASKING)) {
    assert.equal(standingOf(state, true, TASKING_STATES).status, withFiles, state)
    assert.equal(standingOf(state, false, TASKING_STATES).status, without, state)
  }
  assert.deepEqual(standingOf('DREAMING', true, TASKING_STATES), { status: 'accepted', unknownStatus: 'DREAMING' })
})
