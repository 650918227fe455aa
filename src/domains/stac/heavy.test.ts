import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'

const KIB = 1024

const feature = (id: string, more: { properties?: object; assets?: object }) => ({
  type: 'Feature',
  id,
  geometry: null,
  properties: { datetime: '2026-01-01T00:00:00Z', ...more.properties },
  assets: more.assets ?? {},
})

// Goal: no page exceeds the maximum response size. The operation rejects it and suggests a limit; the STAC API ends the page
// early, and its links still lead to every item once.
test('large pages', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const importAll = async (features: object[]) => {
    const ndjson = features.map((each) => JSON.stringify(each)).join('\n')
    const { created } = await w.ok(org.owner.token, 'items.import_stac', { project_id: org.projectId, ndjson })
    assert.equal(created, features.length)
  }
  const text = 'x'.repeat(240 * KIB)
  const heavy = Array.from({ length: 80 }, (_, i) => feature(`heavy-${i}`, { properties: { text } }))
  for (const part of [heavy.slice(0, 40), heavy.slice(40)]) await importAll(part)
  const href = 'https://data.example/a.tif'
  const manyFiles = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`file-${i}`, { href, text: 'y'.repeat(15 * KIB) }]))
  const filed = Array.from({ length: 12 }, (_, i) => feature(`filed-${i}`, { assets: manyFiles }))
  for (const part of [filed.slice(0, 6), filed.slice(6)]) await importAll(part)
  const all = [...heavy, ...filed].map(({ id }) => id).toSorted()
  const headers = { authorization: `Bearer ${org.owner.token}` }

  await t.test('the operations reject it and say which limit fits', async () => {
    const search = (limit: number) => w.call(org.owner.token, 'stac.search', { limit, sortby: [{ field: 'id', direction: 'desc' }] })
    const { status, body } = await search(10_000)
    assert.equal(status, 400)
    const limit = Number(/limit (\d+)/.exec(body.detail)![1])
    assert.ok(limit >= 20 && limit < 80, body.detail)
    assert.equal((await search(limit)).body.features.length, limit)
    const items = await w.call(org.owner.token, 'items.search_org', {
      limit: 1_000,
      format: 'stac',
      query: { id: { startsWith: 'filed' } },
    })
    assert.deepEqual([items.status, /limit \d/.test(items.body.detail)], [400, true])
  })

  await t.test('the STAC API ends the page early and continues', async () => {
    const seen: string[] = []
    let [address, pages] = ['/stac/search?limit=1000', 0]
    for (; address && pages < 20; pages++) {
      const { status, body, bytes } = await w.request('GET', address, { headers })
      assert.equal(status, 200, bytes.toString().slice(0, 300))
      assert.ok(bytes.length < 32 * KIB * KIB, `${bytes.length}`)
      seen.push(...body.features.map(({ id }: { id: string }) => id))
      const next = body.links.find(({ rel }: { rel: string }) => rel === 'next')
      address = next ? new URL(next.href).pathname + new URL(next.href).search : ''
    }
    assert.deepEqual(seen.toSorted(), all)
    assert.ok(pages >= 3, `${pages} pages`)
  })

  await t.test('a newline-delimited file has all items', async () => {
    const { bytes } = await w.request('GET', '/stac/search?f=ndjson', { headers })
    const ids = bytes
      .toString()
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id)
    assert.deepEqual(ids.toSorted(), all)
  })
})
