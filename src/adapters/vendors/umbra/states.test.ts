import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CANCELLABLE, CANCELLING, standingOf, STATES } from './states.ts'

/** Every state of a task in Umbra's document. */
const TABLE: Record<string, readonly string[]> = {
  placed: ['RECEIVED', 'REVIEW', 'ACTIVE', 'SUBMITTED', 'CANCEL_REQUESTED'],
  accepted: ['ACCEPTED', 'SCHEDULED', 'TASKED', 'TRANSMITTED', 'PROCESSING', 'PROCESSED', 'DELIVERING', 'INCOMPLETE', 'ANOMALY'],
  delivered: ['DELIVERED', 'COMPLETED'],
  failed: ['REJECTED', 'EXPIRED', 'ERROR'],
  cancelled: ['CANCELED'],
}

// Goal: each state means one thing, and a state that nobody knows fails no order.
test('states of Umbra', () => {
  assert.deepEqual(Object.keys(STATES).toSorted(), Object.values(TABLE).flat().toSorted())
  for (const [status, states] of Object.entries(TABLE))
    for (const state of states) assert.deepEqual(standingOf(state), { status, unknownStatus: null }, state)
  for (const state of ['BEING_POLISHED', 'constructor', ''])
    assert.deepEqual(standingOf(state), { status: 'accepted', unknownStatus: state })
  for (const state of [...CANCELLABLE, ...CANCELLING]) assert.ok(Object.hasOwn(STATES, state))
})
