// Goal: our requests to Umbra and the simulator's responses conform to what Umbra's OpenAPI documents say.
// The documents are Umbra's and are not part of this repository: what we know of them is transcribed in `umbra-documents.ts`. UMBRA_OPENAPI
// names a folder with copies of the originals as JSON (Tasking, STAC Archive and STAC API V2), which are then compared with as well.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { DAY_MS } from '#core/time.ts'
import { VendorError } from '#ports/vendors/call.ts'
import type { Exchange } from '../../sandbox/vendors/skyfi/server.ts'
import { square } from '../orders/support.ts'
import { testClock } from '../support/world.ts'
import { vendorsOf } from './clients.ts'
import { conformanceTo } from './openapi.ts'
import { UMBRA_DOCUMENTS } from './umbra-documents.ts'
import { simulatedUmbra } from './umbra.ts'

const FOLDER = process.env['UMBRA_OPENAPI']
/** Of OAuth, which no document describes. */
const TOKEN = '/oauth/token'

test('requests and responses conform to the OpenAPI documents', async (t) => {
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-vendor-'))
  const clock = testClock('2030-01-01T00:00:00.000Z')
  const vendor = await simulatedUmbra({ clock, workDir, exchange: new Map() })
  const vendors = vendorsOf({ registry: vendor.sources, clock, egressAllow: vendor.egressAllow })
  t.after(async () => {
    await vendors.close()
    await vendor.close()
    rmSync(workDir, { recursive: true, force: true })
  })
  const [catalog, shop] = [vendors.catalog('umbra'), vendors.shop('umbra')!]

  const query = { intersects: square(), from: new Date('2029-11-01T00:00:00Z'), to: clock.now(), limit: 2 }
  const first = await catalog.search(query)
  await catalog.search({ ...query, cursor: first.cursor })
  await vendors.checkAccount('umbra', vendor.secret)
  const base = { createdAt: clock.now(), expectedCents: null, licenseType: 'standard' }
  const archive = {
    ...base,
    reference: 'reference-1',
    productId: first.scenes[0]!.productId!,
    captures: [{ sceneId: first.scenes[0]!.id, geometry: square() }],
  }
  const ordered = await shop.placeOrder(archive)
  const inDays = (days: number) => new Date(clock.now().getTime() + days * DAY_MS).toISOString()
  const params = { acquisitionStart: inDays(1), acquisitionEnd: inDays(8), looks: 2, rangeResolution: 0.5, polarization: 'HH' }
  const task = { reference: 'reference-2', productId: vendors.product('umbra-spotlight')!.id, area: square(), params }
  let study = await shop.requestStudy(task)
  while (study.status === 'waiting') {
    clock.advance({ seconds: vendor.stepSeconds })
    study = await shop.study(study.id)
  }
  const tasked = await shop.placeOrder({ ...base, ...task, studyOptionId: study.options[0]!.id })
  const { id } = await shop.placeOrder({ ...base, ...task, reference: 'reference-3', studyOptionId: study.options[1]!.id })
  await shop.cancelOrder(id)
  for (const { id: taskId } of vendor.umbra.tasks) await vendor.umbra.files(taskId) // Rendered.
  for (let each = 0; each < 12; each++) {
    await shop.order(ordered.id)
    clock.advance({ seconds: vendor.stepSeconds })
  }
  const { files } = await shop.order(tasked.id)
  for (const file of files) for await (const _chunk of shop.download(tasked.id, file.id)) continue
  await assert.rejects(catalog.search({ ...query, bbox: [2, 48, 3, 49] }), VendorError)

  const exchanges = vendor.umbra.exchanges.filter(({ route }) => route !== TOKEN)
  const originals = "UMBRA_OPENAPI names no folder with copies of Umbra's OpenAPI documents"
  await t.test('as they are transcribed', () => compare(exchanges, UMBRA_DOCUMENTS))
  await t.test('the originals', { skip: FOLDER ? false : originals }, () => compare(exchanges, documentsIn(FOLDER!)))
  assert.deepEqual([...new Set(exchanges.map(({ method, route, status }) => `${method} ${route} ${status}`))].toSorted(), [
    'GET /tasking/feasibilities/{id} 200',
    'GET /tasking/restricted-access-areas 200',
    'GET /tasking/tasks/{id} 200',
    'GET /v2/stac/collections/{collection_id}/items/{item_id} 200',
    'POST /archive/search 200',
    'POST /archive/search 422',
    'POST /tasking/collects/search 200',
    'POST /tasking/feasibilities 201',
    'POST /tasking/tasks 201',
    'POST /tasking/tasks/archive-tasks 201',
    'POST /tasking/tasks/search 200',
    'POST /v2/stac/search 200',
  ])
})

interface Document extends Readonly<Record<string, unknown>> {
  readonly servers: readonly { readonly url: string }[]
}

const documentsIn = (folder: string): Document[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as Document)

function compare(exchanges: readonly Exchange[], documents: readonly Document[]): void {
  const conforms = conformance(documents)
  assert.deepEqual(exchanges.flatMap(conforms), [])
  for (const exchange of exchanges.filter(({ response }) => response !== null))
    assert.notDeepEqual(conforms({ ...exchange, response: 7 }), [], 'the comparison itself finds errors')
  for (const exchange of exchanges.filter(({ request, status }) => request !== null && status < 400))
    assert.notDeepEqual(conforms({ ...exchange, request: 7 }), [], 'in requests, too')
}

/** Each document describes the routes below the path of its server. */
function conformance(documents: readonly Document[]): (exchange: Exchange) => string[] {
  const compared = documents.map((document) => ({ prefix: new URL(document.servers[0]!.url).pathname, conforms: conformanceTo(document) }))
  return (exchange) => {
    const document = compared.find(({ prefix }) => exchange.route.startsWith(`${prefix}/`))
    if (!document) return [`No document describes ${exchange.route}`]
    return document.conforms({ ...exchange, route: exchange.route.slice(document.prefix.length) })
  }
}
