/**
 * Goal: up42-py, pointed here, signs in, finds collections, scenes and schemas, orders, decides, processes, and keeps its items as at UP42.
 *
 * Run: npm test -- test/peers/up42.ts. UP42_PYTHON is a Python with up42-py (`.ci/requirements-up42.txt`), which asks for an older
 * pystac-client than the other peers; skips where there is none.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import run from '#domains/processing/run.task.ts'
import { features, grant, placeArchive, scenes, square, until, work } from '../orders/support.ts'
import { scene } from '../support/scene.ts'
import { world, type Org, type World } from '../support/world.ts'

const PYTHON = process.env['UP42_PYTHON'] ?? 'python3'
const skip = spawnSync(PYTHON, ['-c', 'import up42']).status === 0 ? false : 'There is no Python with up42-py on this machine'

const WINDOW = { acquisitionStart: '2030-01-02T00:00:00Z', acquisitionEnd: '2030-01-20T00:00:00Z' }

/** What there is before the client comes: items in collections, jobs that have ended, orders that wait for decisions. */
async function prepare(w: World, org: Org) {
  const { token } = org.owner
  await grant(w, org, 1_000_000)
  const collection = async (name: string): Promise<string> =>
    (await w.ok(token, 'collections.create', { project_id: org.projectId, name })).id
  const upload = async (collectionId: string | null): Promise<string> => {
    const itemId = (await w.upload(token, org.projectId, { 'a.tif': await scene({ width: 32, height: 32 }) })).body.item_ids[0] as string
    if (collectionId) await w.ok(token, 'items.update', { item_id: itemId, collection_id: collectionId })
    return itemId
  }
  const [kept, doomed] = [await collection('Kept'), await collection('Doomed')]
  const [item, loose, ...lost] = [await upload(kept), await upload(null), await upload(doomed), await upload(doomed)]
  const jobs: string[] = []
  for (const expression of ['b1', 'b1*2', 'b1*3']) {
    const input_params = { item_id: item, expression, ...(jobs.length === 0 ? { output_name: 'First' } : {}) }
    const { job } = await w.ok(token, 'processing.create_and_dispatch', {
      project_id: org.projectId,
      job_type_id: 'band_math',
      input_params,
      ...(jobs.length === 0 ? { target_collection_id: kept } : {}),
    })
    jobs.push(job.id)
  }
  await w.drain(run)
  const tasking = async (dataProduct: string): Promise<string> =>
    (
      await w.ok(token, 'orders.tasking.place', {
        projectId: org.projectId,
        groups: [{ dataProduct, featureCollection: features(square(2.3, 48.2, 0.005)), params: WINDOW }],
      })
    ).id
  const [quoted, rejected, studied] = [
    await tasking('sandbox-vhr-quoted'),
    await tasking('sandbox-vhr-quoted'),
    await tasking('sandbox-vhr-tasking'),
  ]
  await work(w, [quoted, rejected, studied], until('feasibility_ready', 'quotation_ready'))
  const archive = (await placeArchive(w, org)).body.id as string
  await work(w, [archive])
  const stacIds = await Promise.all(
    [item, loose, ...lost].map(async (item_id) => (await w.ok(token, 'items.get_stac', { item_id })).id as string),
  )
  return { kept, stacIds, jobs, quoted, rejected, studied, archive }
}

type Prepared = Awaited<ReturnType<typeof prepare>>

async function callAll(w: World, org: Org, prepared: Prepared) {
  const given = {
    address: w.baseUrl,
    email: org.owner.email,
    password: org.owner.password,
    project: org.projectId,
    host: 'sandbox-hr',
    product: 'sandbox-hr-archive',
    scenes: (await scenes(w)).map(({ id }) => id),
    features: features(square()),
    window: WINDOW,
    order: prepared.archive,
    quoted: prepared.quoted,
    rejected: prepared.rejected,
    studied: prepared.studied,
    job: prepared.jobs[0],
    collection: prepared.kept,
    item: prepared.stacIds[0],
    loose: prepared.stacIds[1],
    doomed: prepared.stacIds.slice(2),
  }
  const { stdout } = await promisify(execFile)(PYTHON, [path.join(import.meta.dirname, 'up42-client.py'), JSON.stringify(given)], {
    maxBuffer: 1e7,
    env: { ...process.env, UP42_DISABLE_VERSION_CHECK: 'true' },
  })
  return { given, got: JSON.parse(stdout.trim().split('\n').at(-1)!) }
}

const PNG = '89504e47'

test('up42-py', { skip }, async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  const { token } = org.owner
  const prepared = await prepare(w, org)
  const { given, got } = await callAll(w, org, prepared)
  const gives = (name: string, expected: unknown) => t.test(name, () => assert.deepEqual(got[name], expected))
  const raises = (name: string, expected: RegExp) => t.test(name, () => assert.match(String(got[name]), expected))

  await gives('config file', org.projectId)
  await gives('workspace', org.projectId)
  await raises('wrong password', /^WrongCredentials/)
  await gives('schema', 'object')
  await testSearches(t, w, { token, got })
  await raises('invalid provider search', /^InvalidSearchRequest: query: supports only cloudCoverage, not 'sunElevation'/)
  await raises('invalid catalog search', /APIError.*eo:cloud_cover/s)
  await raises('unknown catalog collection', /APIError.*did you mean sandbox-hr/s)
  await gives('catalog search everywhere', ['sandbox-hr'])
  await gives('quotations', ['ACCEPTED', true, true, 'REJECTED'])
  await gives('studies', ['NoDecisionOptionChosen', 'ACCEPTED', true])
  await testOrders(t, org, prepared, { given, got })
  await testItems(t, w, org, prepared, got)
  await testJobs(t, w, org, prepared, got)
  await gives('budgets', [[], false, 'HTTPError'])
})

type Got = Record<string, any> // oxlint-disable-line typescript/no-explicit-any

async function testSearches(t: TestContext, w: World, { token, got }: { token: string; got: Got }): Promise<void> {
  await t.test('collections', async () => {
    const { names, archive, host } = got['collections']
    assert.equal(names.length, (await w.ok(token, 'glossary.collections.list', { size: 100 })).totalElements)
    assert.deepEqual(names, names.toSorted())
    assert.ok(archive > 0 && archive <= names.length)
    assert.equal(host, true)
  })
  await t.test('provider search', () => {
    const { scenes: count, clouds, quicklook } = got['provider search']
    assert.ok(count > 100, 'over several pages')
    assert.ok(clouds <= 90)
    assert.equal(quicklook, PNG)
  })
  await t.test('catalog collections', () => {
    const { names, one: first } = got['catalog collections']
    assert.deepEqual(names, [...new Set(got['collections'].names)].toSorted())
    assert.equal(first[0], 'sandbox-hr')
  })
  await t.test('catalog search', () => {
    const { self, scenes: count, clouds, ...rest } = got['catalog search']
    assert.ok(count > 100, 'over several pages')
    assert.ok(clouds < 50)
    assert.match(self, new RegExp(`^${w.baseUrl}/v2/catalog/collections/sandbox-hr/items/`))
    assert.deepEqual(rest, { get: true, again: true, assets: ['quicklook', 'thumbnail'], picture: PNG })
  })
}

async function testOrders(t: TestContext, org: Org, prepared: Prepared, { given, got }: { given: { scenes: string[] }; got: Got }) {
  await t.test('archive order', () => {
    assert.equal(typeof got['archive order'], 'object', got['archive order'])
    const { estimate, order, cancel } = got['archive order']
    assert.ok(estimate[0] > 0)
    assert.deepEqual(estimate.slice(1), ['SQ_KM', 'OrderCost'])
    assert.deepEqual(order.slice(1), ['ARCHIVE', org.projectId, ['python'], given.scenes[0], false])
    assert.equal(cancel, 'OrderCannotBeCanceled', 'the client refuses it for what is placed')
  })
  await t.test('tasking order', () =>
    assert.deepEqual(got['tasking order'], ['CREATED', WINDOW.acquisitionStart, 'CANCELED', 'CanceledOrder']),
  )
  await t.test('order lists', () => {
    const { named, ...rest } = got['order lists']
    assert.equal(named.length, 1)
    const quoted = [prepared.quoted, prepared.rejected].toSorted()
    assert.deepEqual(rest, { ids: [prepared.archive], fulfilled: [prepared.archive], quoted, budgets: [] })
  })
  await t.test('order update and track', () => assert.deepEqual(got['order update and track'], [['from', 'python'], true, 100]))
}

async function testItems(t: TestContext, w: World, org: Org, prepared: Prepared, got: Got): Promise<void> {
  await t.test('assets', () =>
    assert.deepEqual(got['assets'], {
      item: [prepared.archive, org.id, org.projectId, null, 'TASKING', true],
      text: true,
      downloaded: true,
      root: `${w.baseUrl}/v2/assets/stac/`,
      foreign: null,
    }),
  )
  await t.test('item update', async () => {
    const [title, tags] = ['Renamed in Python', ['reef', '2026']]
    assert.deepEqual(got['item update'], [title, title, tags, true, ['loose'], 'Kept'])
    const shown = await w.ok(org.owner.token, 'items.get_stac', { item_id: prepared.stacIds[0] })
    assert.equal(shown.properties['svc:name'], title)
  })
  await t.test('deletion', async () => {
    assert.deepEqual(got['deletion'], ['IncompleteCollectionDeletionError', 0])
    const { collections } = await w.ok(org.owner.token, 'stac.collections.list')
    assert.deepEqual(
      collections.map(({ title }: { title: string }) => title),
      ['Kept'],
    )
  })
}

async function testJobs(t: TestContext, w: World, org: Org, prepared: Prepared, got: Got): Promise<void> {
  const { token } = org.owner
  await t.test('jobs', async () => {
    const { job } = await w.ok(token, 'processing.job.get', { job_id: prepared.jobs[0] })
    const all = prepared.jobs.toSorted()
    assert.deepEqual(got['jobs'], {
      job: ['successful', 'band_math', org.projectId, job.captured_credits, true],
      collection: prepared.kept,
      all,
      successful: all,
      ids: [prepared.jobs[0]],
      released: [],
    })
  })
  await w.drain(run)
  for (const name of ['own template', 'change template'])
    await t.test(name, async () => {
      const [credits, unit, isSized, isAtLeastOne, id, status, reserved] = got[name]
      assert.deepEqual([unit, isSized, isAtLeastOne, status, reserved], ['SQ_KM', true, true, 'accepted', credits])
      const { job } = await w.ok(token, 'processing.job.get', { job_id: id })
      assert.deepEqual([job.status, job.project_id, job.captured_credits], ['completed', org.projectId, credits])
      const { item } = await w.ok(token, 'items.get', { item_id: job.output_item_ids[0] })
      assert.equal(item.name, name === 'own template' ? 'Doubled' : 'Changed')
    })
  const invalid = {
    'pansharpening template': /pan/,
    'grey weights': /greyWeights/,
    'wrong expression': /band 9 does not exist/,
    'missing item': /No such item/,
  }
  for (const [name, message] of Object.entries(invalid))
    await t.test(name, () => {
      assert.equal(got[name].length, 1, got[name])
      assert.match(got[name][0].join(': '), message)
    })
  await t.test('unknown process', () => assert.equal(got['unknown process'][0][0], 'ProcessNotFound'))
}
