// Goal: the adapter works with Umbra's own developer sandbox, which bills nothing: a task is studied, placed once, found and cancelled.
// It needs credentials of the sandbox (UMBRA_SANDBOX_CLIENT_ID, UMBRA_SANDBOX_CLIENT_SECRET) and a network, and is skipped without them.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { parseRegistry } from '#adapters/vendors/registry.ts'
import { systemClock } from '#core/clock.ts'
import { DAY_MS } from '#core/time.ts'
import { square } from '../orders/support.ts'
import { vendorsOf } from './clients.ts'

const { UMBRA_SANDBOX_CLIENT_ID: clientId, UMBRA_SANDBOX_CLIENT_SECRET: clientSecret } = process.env
const skip = clientId && clientSecret ? false : "No credentials of Umbra's developer sandbox are set"
const REGISTRY = new URL('../../src/adapters/vendors/registry.json', import.meta.url)
const [LIVE, SANDBOX] = ['api.canopy.umbra.space', 'api.canopy.prod.umbra-sandbox.space']
const POLL_MS = 5_000
const MAX_POLLS = 60

test("Umbra's developer sandbox", { skip }, async (t) => {
  const text = readFileSync(REGISTRY, 'utf8').replaceAll(LIVE, SANDBOX)
  const secrets = { VENDOR_UMBRA_CLIENT_ID: clientId!, VENDOR_UMBRA_CLIENT_SECRET: clientSecret! }
  const registry = parseRegistry(text, 'the registry of this test', { sandboxUrl: null, secrets })
  const vendors = vendorsOf({ registry, clock: systemClock })
  t.after(() => vendors.close())
  const [catalog, shop] = [vendors.catalog('umbra'), vendors.shop('umbra')!]
  await catalog.probe()

  const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()
  const params = { acquisitionStart: inDays(2), acquisitionEnd: inDays(9) }
  const wanted = { reference: randomUUID(), productId: vendors.product('umbra-spotlight')!.id, area: square(), params }
  let study = await shop.requestStudy(wanted)
  for (let polls = 0; study.status === 'waiting' && polls < MAX_POLLS; polls++) {
    await pause(POLL_MS)
    study = await shop.study(study.id)
  }
  assert.equal(study.status, 'answered', study.reason ?? '')

  const base = { createdAt: new Date(), expectedCents: null, licenseType: 'standard' }
  const order = { ...base, ...wanted, studyOptionId: study.options[0]!.id }
  const { id } = await shop.placeOrder(order)
  assert.equal((await shop.placeOrder(order)).id, id, 'placed once')
  assert.equal((await shop.order(id)).reference, wanted.reference)
  const cancelled = await shop.cancelOrder(id)
  assert.ok(['placed', 'cancelled'].includes(cancelled.status), cancelled.status)
})
