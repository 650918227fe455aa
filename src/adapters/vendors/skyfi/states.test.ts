import assert from 'node:assert/strict'
import { test } from 'node:test'
import { STATES, standingOf } from './states.ts'

/** Every state of SkyFi's document, with a file and without one. */
const TABLE: Record<string, [withFile: string, without: string]> = {
  CREATED: ['placed', 'placed'],
  STARTED: ['placed', 'placed'],
  PAYMENT_FAILED: ['failed', 'failed'],
  PLATFORM_FAILED: ['failed', 'failed'],
  PROVIDER_PENDING: ['accepted', 'accepted'],
  PROVIDER_COMPLETE: ['accepted', 'accepted'],
  PROVIDER_FAILED: ['failed', 'failed'],
  PROCESSING_PENDING: ['accepted', 'accepted'],
  PROCESSING_COMPLETE: ['accepted', 'accepted'],
  PROCESSING_FAILED: ['failed', 'failed'],
  INTERNAL_IMAGE_PROCESSING_PENDING: ['accepted', 'accepted'],
  DELIVERY_PENDING: ['accepted', 'accepted'],
  DELIVERY_COMPLETED: ['delivered', 'accepted'],
  DELIVERY_FAILED: ['delivered', 'failed'],
}

// Goal: each state means one thing, a delivery needs a file, and a state that nobody knows fails no order.
test('states of SkyFi', () => {
  assert.deepEqual(Object.keys(STATES).toSorted(), Object.keys(TABLE).toSorted())
  for (const [state, [withFile, without]] of Object.entries(TABLE)) {
    assert.deepEqual(standingOf(state, true), { status: withFile, unknownStatus: null }, state)
    assert.deepEqual(standingOf(state, false), { status: without, unknownStatus: null }, state)
  }
  for (const state of ['BEING_POLISHED', 'constructor', ''])
    for (const hasFile of [true, false]) assert.deepEqual(standingOf(state, hasFile), { status: 'accepted', unknownStatus: state })
})
