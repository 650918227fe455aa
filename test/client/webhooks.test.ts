import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { SignatureError, signWebhook, verifyWebhook } from '../../packages/client/src/index.ts'

const SECRET = 'whsec_c2VjcmV0IG9mIGEgdGVzdA=='
const event = { event_id: '1', event_type: 'item.created', timestamp: '2030-01-01T00:00:00.000Z', data: { name: 'Größe' } }

// Goal: a delivery is accepted only if every byte of it was signed with the secret.
test('webhooks are verified', async () => {
  const body = JSON.stringify(event)
  const genuine = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`
  assert.equal(await signWebhook(body, SECRET), genuine)
  assert.deepEqual(await verifyWebhook(body, genuine, SECRET), event)
  assert.deepEqual(await verifyWebhook(Buffer.from(body), genuine, SECRET), event)
  await assert.rejects(verifyWebhook(body, null, SECRET), SignatureError)
  await assert.rejects(verifyWebhook(body, genuine.toUpperCase(), SECRET), SignatureError)
  await assert.rejects(verifyWebhook(body, genuine, `${SECRET}x`), SignatureError)
  await fc.assert(
    fc.asyncProperty(fc.nat(Buffer.byteLength(body) - 1), fc.integer({ min: 0, max: 7 }), async (at, bit) => {
      const changed = Buffer.from(body)
      changed[at] = changed[at]! ^ (1 << bit)
      await assert.rejects(verifyWebhook(changed, genuine, SECRET), SignatureError)
    }),
    { numRuns: 100 },
  )
})
