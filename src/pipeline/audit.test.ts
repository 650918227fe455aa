import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import { world } from '../../test/support/world.ts'
import { createAuditTrail } from './audit.ts'

// Goal: a service that stops still writes down the calls whose callers have gone, and which nobody waits for.
test('the trail closes after the entries of calls under way', async (t) => {
  const w = await world(t)
  const trail = createAuditTrail(w.db, w.clock, (error) => assert.fail(String(error)))
  const invocationId = newId()
  const ended = trail.begin()
  const closing = trail.close()
  await trail.record({
    invocationId,
    organizationId: null,
    inputHash: null,
    status: 499,
    artifacts: [],
    operation: 'items.list',
    principalKind: 'none',
    principalId: 'none',
    userId: null,
    apiKeyId: null,
    durationMs: 1,
    at: w.clock.now(),
    calls: 1,
    subject: null,
  })
  ended()
  await closing
  const written = await w.db.selectFrom('audit').select('status').where('invocation_id', '=', invocationId).execute()
  assert.deepEqual(written, [{ status: 499 }])
})
