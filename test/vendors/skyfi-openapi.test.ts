// Goal: our requests to SkyFi and the simulator's responses conform to SkyFi's own OpenAPI document.
// The document is SkyFi's and is not part of this repository: SKYFI_OPENAPI names a copy of it, and without one the test is skipped.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { DAY_MS } from '#core/time.ts'
import { VendorError } from '#ports/vendors/call.ts'
import { square } from '../orders/support.ts'
import { testClock, world } from '../support/world.ts'
import { conformanceTo } from './openapi.ts'
import { simulatedSkyfi } from './skyfi.ts'

const FILE = process.env['SKYFI_OPENAPI']
const skip = FILE ? false : "SKYFI_OPENAPI names no copy of SkyFi's OpenAPI document"

test('requests and responses conform to the OpenAPI document', { skip }, async (t) => {
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-vendor-'))
  const clock = testClock('2030-01-01T00:00:00.000Z')
  const vendor = await simulatedSkyfi({ clock, workDir, exchange: new Map() })
  t.after(async () => {
    await vendor.close()
    rmSync(workDir, { recursive: true, force: true })
  })
  const w = await world(t, { clock, sources: vendor.sources, egressAllow: vendor.egressAllow })
  const { vendors } = w.platform.services
  const [catalog, shop] = [vendors.catalog('skyfi'), vendors.shop('skyfi')!]

  const inDays = (days: number) => new Date(clock.now().getTime() + days * DAY_MS).toISOString()
  const query = { intersects: square(), from: new Date('2029-11-01T00:00:00Z'), to: clock.now(), limit: 2 }
  const cloudCover = { operator: 'LTE', percent: 90 } as const
  const first = await catalog.search({ ...query, cloudCover })
  await catalog.search({ ...query, cloudCover, cursor: first.cursor })
  const sceneId = first.scenes[0]!.id
  await vendors.checkAccount('skyfi', vendor.secret)
  await assert.rejects(vendors.checkAccount('skyfi', vendor.wrongSecret), VendorError)
  const request = {
    reference: 'reference-1',
    createdAt: clock.now(),
    expectedCents: null,
    productId: first.scenes[0]!.productId!,
    licenseType: 'standard',
    captures: [{ sceneId, geometry: square() }],
    callbackUrl: 'https://imagery.example.com/webhooks/vendors/1',
  }
  const { id } = await shop.placeOrder(request)
  assert.equal((await shop.findOrder(request))?.id, id)
  for (let step = 0; step <= vendor.states; step++) {
    await shop.order(id)
    clock.advance({ seconds: vendor.stepSeconds })
  }
  const task = {
    reference: 'reference-2',
    productId: vendors.product('skyfi-day-tasking')!.id,
    area: square(),
    params: { acquisitionStart: inDays(2), acquisitionEnd: inDays(9), cloudCoverage: 20, maxOffNadirAngle: 25 },
  }
  await shop.opportunities({ productId: task.productId, area: square(), from: clock.now(), to: new Date(inDays(9)), limit: 10 })
  let study = await shop.requestStudy(task)
  while (study.status === 'waiting') {
    clock.advance({ seconds: vendor.stepSeconds })
    study = await shop.study(study.id)
  }
  const { captures: _scene, ...common } = request
  const tasked = { ...common, ...task, studyOptionId: study.options[0]!.id }
  const image = await shop.placeOrder(tasked)
  assert.equal((await shop.findOrder(tasked))?.id, image.id)
  await shop.order(image.id)
  await assert.rejects(shop.order('4f0f8a10-6a6b-4f0e-9c1d-0a1b2c3d4e5e'), VendorError)
  await assert.rejects(catalog.search({ ...query, intersects: square(0, 0, 60) }), /500000/)

  const { exchanges } = vendor.skyfi
  const conforms = conformanceTo(JSON.parse(readFileSync(FILE!, 'utf8')))
  assert.deepEqual(exchanges.flatMap(conforms), [])
  for (const exchange of exchanges) assert.notDeepEqual(conforms({ ...exchange, response: 7 }), [], 'the comparison itself finds errors')
  assert.deepEqual([...new Set(exchanges.map(({ method, route, status }) => `${method} ${route} ${status}`))].toSorted(), [
    'GET /archives 200',
    'GET /archives/{archive_id} 200',
    'GET /auth/whoami 200',
    'GET /auth/whoami 401',
    'GET /feasibility/{feasibility_id} 200',
    'GET /orders 200',
    'GET /orders/{order_id} 200',
    'GET /orders/{order_id} 404',
    'POST /archives 200',
    'POST /archives 422',
    'POST /feasibility 201',
    'POST /feasibility/pass-prediction 200',
    'POST /order-archive 201',
    'POST /order-tasking 201',
  ])
})
