/**
 * Goal: our adapter tasks at `stapi-fastapi`, the standard's own server, as it does at the simulated one: it searches passes page by
 * page, places one order although the response is lost, recognizes it by its window, follows its states and delivers its image.
 *
 * Run: npm test -- test/peers/stapi-server.ts. STAPI_PYTHON is a Python with stapi-fastapi and uvicorn
 * (`.ci/requirements-stapi.txt`); skips where there is none.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { test, type TestContext } from 'node:test'
import { parseRegistry } from '#adapters/vendors/registry.ts'
import { areaBounds } from '#core/area.ts'
import { DAY_MS } from '#core/time.ts'
import place from '#domains/orders/place.task.ts'
import { cropOf, describeScene } from '../../sandbox/scenes/index.ts'
import { openSceneRenderer } from '../../sandbox/vendors/scene-renderer.ts'
import { orderViolations } from '../orders/invariants.ts'
import { balance, features, grant, square, until, work } from '../orders/support.ts'
import { testClock, world } from '../support/world.ts'
import { stapiRegistry } from '../vendors/stapi.ts'

const PYTHON = process.env['STAPI_PYTHON'] ?? 'python3'
const hasServer = spawnSync(PYTHON, ['-c', 'import stapi_fastapi, uvicorn']).status === 0
const skip = hasServer ? false : 'There is no Python with stapi-fastapi on this machine'

const KEY = 'key-of-the-peer-0001'
const AREA = square(2.3, 48.2, 0.005)

/** The server, and the requests that it answered. */
async function startPeer(t: TestContext, now: Date) {
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-stapi-'))
  const renderer = openSceneRenderer(workDir)
  const datetime = new Date(now.getTime() - DAY_MS).toISOString()
  const view = describeScene({ sensor: 'sandbox-hr', longitude: 2.3025, latitude: 48.2025, datetime, sizePx: 512, id: 'peer' })
  const file = await renderer.file(cropOf(view, AREA, { maxPx: 4_000_000, isBounded: false }))
  await renderer.close()
  const given = { key: KEY, lose: true, bbox: areaBounds(AREA), datetime, file: file.path }
  const server = spawn(PYTHON, [path.join(import.meta.dirname, 'stapi-server.py'), JSON.stringify(given)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => {
    server.kill('SIGKILL')
    rmSync(workDir, { recursive: true, force: true })
  })
  const requests: string[] = []
  const port = await new Promise<number>((resolve, reject) => {
    server.once('close', () => reject(new Error('the server ended')))
    createInterface({ input: server.stdout }).on('line', (line) => {
      const { port, request } = JSON.parse(line) as { port?: number; request?: string }
      if (port !== undefined) resolve(port)
      if (request !== undefined) requests.push(request)
    })
  })
  return { host: `127.0.0.1:${port}`, requests, byteLength: file.byteLength }
}

test('our STAPI adapter at stapi-fastapi', { skip }, async (t) => {
  const clock = testClock(new Date().toISOString()) // The server has a clock of its own.
  const peer = await startPeer(t, clock.now())
  const registry = stapiRegistry({ url: `http://${peer.host}/stapi`, hosts: { api: peer.host, files: peer.host } }, { cancellable: false })
  const sources = parseRegistry(registry, 'the registry of this test', {
    sandboxUrl: null,
    secrets: { VENDOR_STAPI_KEY: KEY },
    exchange: new Map([['USD', { audPerUnit: 1.5, day: '2026-11-01', marginPercent: 3 }]]),
  })
  const w = await world(t, { clock, sources, egressAllow: [peer.host] })
  const org = await w.organization()
  await grant(w, org, 1_000_000)
  const ok = (id: string, input: object) => w.ok(org.owner.token, id, input)
  const inDays = (days: number) => new Date(clock.now().getTime() + days * DAY_MS).toISOString()
  const params = { acquisitionStart: inDays(1), acquisitionEnd: inDays(15), maxOffNadirAngle: 20, priority: 'standard' }
  const group = { dataProduct: 'stapi-area', featureCollection: features(AREA), params }
  const placements = () => peer.requests.filter((request) => request === 'POST /stapi/products/Area:Standard/orders').length

  await t.test('the account is checked with its key', async () => {
    const { vendors } = w.platform.services
    assert.equal((await vendors.checkAccount('stapi', { key: KEY })).detail, null)
    await assert.rejects(vendors.checkAccount('stapi', { key: 'another' }), { code: 'unauthorized' })
  })

  await t.test('passes come over several pages', async () => {
    const { content } = await ok('orders.tasking.opportunities_list', { ...group, size: 100 })
    assert.deepEqual(content.map(({ satellite }: { satellite: string }) => satellite).toSorted(), [
      'peer-0',
      'peer-1',
      'peer-2',
      'peer-3',
      'peer-4',
    ])
  })

  await t.test('an order whose response was lost is found by its window, followed and delivered; it costs what was quoted', async () => {
    const before = await balance(w, org)
    const { id } = await ok('orders.tasking.place', { projectId: org.projectId, groups: [group] })
    await work(w, [id], until('quotation_ready'))
    const [quotation] = (await ok('orders.tasking.quotations.list', { orderId: id })).content
    await ok('orders.tasking.quotation_decide', { quotation_id: quotation.id, decision: 'ACCEPTED' })
    const { groups } = await ok('orders.get', { id })
    await w.runTask(place, { group_id: groups[0].id })
    assert.deepEqual([placements(), (await ok('orders.get', { id })).groups[0].status], [1, 'waiting'])
    await work(w, [id])
    const done = await ok('orders.get', { id })
    assert.deepEqual(
      [done.status, done.capturedCredits, done.itemIds.length],
      ['fulfilled', quotation.creditsPrice, 1],
      JSON.stringify(done),
    )
    assert.equal(placements(), 1)
    assert.deepEqual(await balance(w, org), [before[0] - quotation.creditsPrice, 0])
    const { assets } = await ok('items.get_stac', { item_id: done.itemIds[0] })
    assert.equal(assets.image['file:size'] ?? peer.byteLength, peer.byteLength)
  })
  assert.deepEqual(await orderViolations(w.db), [])
})
