import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CANCELLABLE, STATES, standingOf } from './states.ts'

/** Every state of UP42's documents, old and new. */
const TABLE: Record<string, string> = {
  CREATED: 'placed',
  BEING_PLACED: 'placed',
  PLACEMENT_FAILED: 'placed',
  PLACED: 'accepted',
  BEING_FULFILLED: 'accepted',
  DELIVERY_INITIALIZATION_FAILED: 'accepted',
  DOWNLOAD_FAILED: 'accepted',
  DOWNLOADED: 'accepted',
  FULFILLED: 'delivered',
  FAILED_PERMANENTLY: 'failed',
  CANCELED: 'cancelled',
}

// Goal: each state means one thing, only orders that UP42 has not passed on can be cancelled, and a state that nobody knows fails no order.
test('states of UP42', () => {
  assert.deepEqual(Object.keys(STATES).toSorted(), Object.keys(TABLE).toSorted())
  for (const [state, status] of Object.entries(TABLE)) assert.deepEqual(standingOf(state), { status, unknownStatus: null }, state)
  for (const state of CANCELLABLE) assert.equal(standingOf(state).status, 'placed')
  for (const state of ['BEING_POLISHED', 'constructor', ''])
    assert.deepEqual(standingOf(state), { status: 'accepted', unknownStatus: state })
})
