// Goal: scenes of every source and the organization's own items have one shape, one order and one price; the timeline counts each once.
import assert from 'node:assert/strict'
import { test, before, after } from 'node:test'
import fc from 'fast-check'
import type { CatalogScene, CatalogSource, CatalogVendor, ItemFeature } from '../../packages/console/src/api/contract.ts'
import { boxPolygon } from '../../packages/console/src/map/geo.ts'
import {
  filtersFromUrl,
  intervalOf,
  parseBox,
  sceneFromCatalog,
  sceneFromItem,
  sortFromUrl,
  sortScenes,
} from '../../packages/console/src/screens/explore/scenes.ts'
import { pricedTogether, pricesIn, pricingInput, type ScenePrice } from '../../packages/console/src/screens/explore/prices.ts'
import { fitsList, listFiltersFromUrl } from '../../packages/console/src/screens/explore/list-filters.ts'
import { groupsOf, summaryOf } from '../../packages/console/src/screens/explore/groups.ts'
import {
  CLOUD_LIMITS,
  DAY_MS,
  datedOf,
  dayOf,
  daysOf,
  firstPeriod,
  moved,
  periodOf,
  rangeOf,
  timelineOf,
  zoomed,
} from '../../packages/console/src/screens/explore/timeline-bins.ts'
import type { Scene } from '../../packages/console/src/state/scene.ts'

before(() => Object.defineProperty(globalThis, 'location', { value: { origin: 'https://maps.example' }, configurable: true }))
after(() => Reflect.deleteProperty(globalThis, 'location'))

const AREA = boxPolygon([10, 10, 11, 11])
const VENDOR = { host_name: 'vendor', title: 'A vendor', access_model: 'commercial' } as CatalogVendor
const ORIGIN = { vendor: VENDOR, source: undefined }

const catalogScene = (properties: object, fields: object = {}) =>
  ({ id: 's1', geometry: boxPolygon([10, 10, 10.5, 11]), properties, links: [], ...fields }) as unknown as CatalogScene

test('a scene of a catalogue', () => {
  const links = [
    { rel: 'thumbnail', href: 'https://maps.example/v1/thumbnail/s1?x=1' },
    { rel: 'preview', href: '/v1/preview/s1' },
  ]
  const properties = {
    datetime: '2025-06-01T10:00:00Z',
    'eo:cloud_cover': 12,
    pricingResolution: 0.5,
    creditsPerSqKm: 310,
    dataProduct: 'pan',
    'eo:bands': [{ name: 'red' }, {}, { name: 'nir' }],
  }
  const scene = sceneFromCatalog(catalogScene(properties, { links }), ORIGIN, AREA)
  assert.deepEqual(
    [scene.key, scene.kind, scene.source, scene.thumbnail, scene.quicklook, scene.gsd, scene.creditsPerKm2],
    ['vendor/s1', 'catalog', 'A vendor', '/v1/thumbnail/s1', '/v1/preview/s1', 0.5, 310],
  )
  assert.deepEqual(scene.bands, ['red', 'nir'])
  assert.ok(Math.abs(scene.covered! - 0.5) < 0.05)
})

test('a scene whose price is not known is for sale, and says why', () => {
  const properties = { dataProduct: 'pan', priceError: 'The vendor did not respond in time' }
  const { product, priceError, creditsPerKm2 } = sceneFromCatalog(catalogScene(properties), ORIGIN, AREA)
  assert.deepEqual([product, priceError, creditsPerKm2], ['pan', 'The vendor did not respond in time', null])
})

test('what a source does not say is null, and what it says wrongly counts as absent', () => {
  const scene = sceneFromCatalog(catalogScene({ datetime: 5, gsd: '10', 'eo:cloud_cover': null, 'eo:bands': 'all' }), ORIGIN, null)
  assert.deepEqual(
    [scene.datetime, scene.gsd, scene.cloud, scene.covered, scene.creditsPerKm2, scene.thumbnail, scene.bands],
    [null, null, null, null, null, null, []],
  )
})

test('what a scene does not state is that of its collection, which names the scene if its source has several', () => {
  const collection = { id: 's2', title: 'Sentinel-2', gsd: 10, bands: [{ name: 'red', role: 'RED' }] }
  const shown = (collections: object[], properties: object = {}) => {
    const source = { collections } as unknown as CatalogSource
    const scene = sceneFromCatalog(catalogScene(properties, { collection: 's2' }), { vendor: VENDOR, source }, null)
    return [scene.label, scene.gsd, scene.bands]
  }
  assert.deepEqual(shown([collection]), ['A vendor', 10, ['red']])
  assert.deepEqual(shown([collection, { ...collection, id: 'dem' }], { gsd: 20 }), ['Sentinel-2', 20, ['red']])
  assert.deepEqual(shown([{ ...collection, id: 'dem' }]), ['A vendor', null, []])
})

test('an item of the organization has its own ID, not that of its scene', () => {
  const properties = { 'svc:item_id': 'i/1', 'svc:name': 'Flight', gsd: 0.1 }
  const item = { id: 'scene-1', geometry: AREA, bbox: null, properties } as unknown as ItemFeature
  const scene = sceneFromItem(item, AREA)
  assert.deepEqual(
    [scene.key, scene.id, scene.kind, scene.source, scene.title, scene.isForSale, scene.covered],
    ['item/i/1', 'i/1', 'item', 'Flight', 'Flight', false, 1],
  )
  assert.match(scene.thumbnail!, /^\/api\/v1\/items\/i%2F1\/tiles\/\d+\/\d+\/\d+\.webp$/)
})

const scenes = fc.array(
  fc.record({
    datetime: fc.option(fc.integer({ min: 0, max: 3_650 }).map((day) => new Date(Date.UTC(2016, 0, 1) + day * DAY_MS).toISOString())),
    cloud: fc.option(fc.integer({ min: 0, max: 100 })),
    covered: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    key: fc.constantFrom('a', 'b', 'c', 'd'),
    isForSale: fc.boolean(),
  }),
  { maxLength: 60 },
) as unknown as fc.Arbitrary<Scene[]>

/** The price of 'c' is not known. */
const PRICES = new Map<string, ScenePrice>([
  ['a', { credits: 200, billedByVendor: null }],
  ['b', { refusal: 'The capture is too large' }],
  ['d', { credits: 100, billedByVendor: null }],
])

test('sorting keeps every scene and is by its measure, then newest first', () => {
  const measures = {
    newest: () => 0,
    clearest: ({ cloud }: Scene) => cloud ?? 101,
    covers: ({ covered }: Scene) => -(covered ?? 0),
    cheapest: ({ key, isForSale }: Scene) => (isForSale ? { a: 200, b: 1e9, c: 1e8, d: 100 }[key]! : 0),
  }
  fc.assert(
    fc.property(scenes, fc.constantFrom('newest' as const, 'clearest' as const, 'covers' as const, 'cheapest' as const), (list, sort) => {
      const sorted = sortScenes(list, sort, PRICES)
      assert.deepEqual(new Set(sorted), new Set(list))
      assert.equal(sorted.length, list.length)
      const measure = measures[sort]
      sorted.slice(1).forEach((scene, index) => {
        const previous = sorted[index]!
        assert.ok(measure(previous) <= measure(scene))
        if (measure(previous) === measure(scene)) assert.ok((previous.datetime ?? '') >= (scene.datetime ?? ''))
      })
      assert.deepEqual(sortScenes(sorted, sort, PRICES), sorted)
    }),
  )
})

test('the search is read from the address; what is not a filter counts as absent', () => {
  assert.deepEqual(filtersFromUrl({ bbox: '1,2,3,4', from: '2025-01-01', cloud: '20', gsd: '0.5', sources: 'a.b' }, AREA), {
    area: AREA,
    view: [1, 2, 3, 4],
    from: '2025-01-01',
    to: '',
    cloud: 20,
    gsd: 0.5,
    sources: ['a', 'b'],
  })
  assert.deepEqual(filtersFromUrl({ cloud: 'x', gsd: '', sources: '' }, null), {
    area: null,
    view: [0, 0, 0, 0],
    from: '',
    to: '',
    cloud: null,
    gsd: null,
    sources: null,
  })
  for (const text of [undefined, '', '1,2,3', '1,2,3,x', '1,2,,4', '1,2,3,4,5']) assert.equal(parseBox(text), null, text)
  assert.deepEqual(['clearest', 'toString', undefined].map(sortFromUrl), ['clearest', 'newest', 'newest'])
  assert.deepEqual(
    [intervalOf({ from: '', to: '' }), intervalOf({ from: '2025-01-01', to: '' }), intervalOf({ from: '', to: '2025-02-01' })],
    [null, '2025-01-01/..', '../2025-02-01'],
  )
})

test('prices are those of the service, each scene alone, in calls of a limited size', () => {
  const scene = (id: string, properties: object) => sceneFromCatalog(catalogScene(properties, { id }), ORIGIN, AREA)
  const listed = Array.from({ length: 250 }, (_, index) => scene(`s${index}`, { dataProduct: 'pan', creditsPerSqKm: 2 }))
  const onRequest = scene('asked', { dataProduct: 'pan' })
  const free = { ...scene('free', {}), isForSale: false }
  const parts = pricedTogether([...listed, onRequest, free], AREA)
  assert.deepEqual(
    parts.map(({ length }) => length),
    [100, 100, 50],
  )
  const round = { type: 'Polygon' as const, coordinates: [Array.from({ length: 999 }, (_, index) => [10.12345, 10 + index / 1e5])] }
  const [most] = pricedTogether(listed, round)
  assert.ok(most!.length > 1 && JSON.stringify(pricingInput(most!, round)).length < 256 * 1024, 'each capture repeats the area')
  const [first, second] = parts[0]!
  const input = pricingInput([first!, second!], AREA)
  assert.deepEqual([input.separately, input.captures.map(({ id }) => id), input.captures[0]!.geometry], [true, ['s0', 's1'], AREA])
  const estimate = {
    groups: [{ captures: [{ id: 's1', host: 'vendor', geometry: {} }], credits: 310, billedByVendor: null }],
    errors: [{ index: 0, id: 's0', host: 'vendor', reason: 'Too large' }],
  } as unknown as Parameters<typeof pricesIn>[0]
  assert.deepEqual(
    new Map(pricesIn(estimate, [first!, second!])),
    new Map([
      ['vendor/s1', { credits: 310, billedByVendor: null }],
      ['vendor/s0', { refusal: 'Too large' }],
    ]),
  )
})

test('coverage, angle and price limit what is listed; what is not known excludes nothing', () => {
  const scene = { ...sceneFromCatalog(catalogScene({}), ORIGIN, null), covered: 0.5, offNadir: 20, isForSale: true }
  const cost = (credits: number) => ({ credits, billedByVendor: null })
  const isListed = (url: object, more: object = {}, price: Parameters<typeof fitsList>[1] = cost(310)) =>
    fitsList({ ...scene, ...more }, price, listFiltersFromUrl(url))
  assert.deepEqual(
    [{}, { cover: '50' }, { cover: '55' }].map((url) => isListed(url)),
    [true, true, false],
  )
  assert.deepEqual(
    [{ angle: '20' }, { angle: '19' }, { angle: 'x' }, { angle: '-1' }].map((url) => isListed(url)),
    [true, false, true, true],
  )
  assert.deepEqual(
    [{ price: '3.1' }, { price: '3' }].map((url) => isListed(url)),
    [true, false],
  )
  assert.ok(isListed({ cover: '90', angle: '1' }, { covered: null, offNadir: null }))
  assert.ok(fitsList({ ...scene, isForSale: false }, undefined, listFiltersFromUrl({ price: '0' })), 'open data is free')
  assert.ok(fitsList(scene, undefined, listFiltersFromUrl({ price: '1' })), 'until its price is known')
  assert.ok(!isListed({ price: '1000' }, {}, { refusal: 'The area is too large' }))
})

test('the timeline has each dated scene once, by its cloud cover', () => {
  fc.assert(
    fc.property(scenes, (list) => {
      const dated = datedOf(list)
      const period = periodOf(dated, '', '')
      if (dated.length === 0) return assert.equal(period, null)
      const timeline = timelineOf(dated, period!)
      const total = [0, 1, 2].map((index) => timeline.bins.reduce((sum, bin) => sum + bin[index]!, 0))
      const cloudClass = ({ cloud }: Scene) => CLOUD_LIMITS.findIndex((limit) => (cloud ?? 0) <= limit)
      assert.deepEqual(
        total,
        [0, 1, 2].map((index) => dated.filter((scene) => cloudClass(scene) === index).length),
      )
      for (const { datetime } of dated) assert.ok(Date.parse(datetime) > timeline.start && Date.parse(datetime) < timeline.end)
      assert.ok(timeline.end - timeline.start >= 8 * DAY_MS)
    }),
  )
})

test('chosen days are the same after their way through the handles', () => {
  const day = fc.integer({ min: 0, max: 3_650 }).map((days) => new Date(Date.UTC(2016, 0, 1) + days * DAY_MS).toISOString().slice(0, 10))
  fc.assert(
    fc.property(scenes, fc.option(day, { nil: '' }), fc.option(day, { nil: '' }), (list, from, to) => {
      const period = periodOf(datedOf(list), from, to)
      if (period) assert.deepEqual(daysOf(period, rangeOf(period, from, to)), [from, to])
      else assert.deepEqual([datedOf(list).length, from, to], [0, '', ''])
    }),
  )
  assert.equal(periodOf([], 'not a day', ''), null)
})

test('the timeline starts with 90 days, zooms around a day and never leaves what there is', () => {
  const day = (days: number) => Date.UTC(2026, 0, 1) + days * DAY_MS
  const all = { start: day(0), end: day(400) }
  const first = firstPeriod(all, '')
  assert.deepEqual(first, { start: day(310), end: day(400) })
  assert.deepEqual(firstPeriod(all, dayOf(day(100))), { start: day(99), end: day(400) })
  const closer = zoomed(first, { factor: 0.5, anchor: day(355), all })
  assert.deepEqual(closer, { start: day(332.5), end: day(377.5) })
  assert.deepEqual(zoomed(closer, { factor: 0.001, anchor: day(355), all }), { start: day(351), end: day(359) })
  assert.deepEqual(zoomed(first, { factor: 100, anchor: day(355), all }), all)
  assert.deepEqual(moved(first, -1_000 * DAY_MS, all), { start: day(0), end: day(90) })
  assert.deepEqual(moved(first, DAY_MS, all), first)
  const short = { start: day(390), end: day(400) }
  assert.deepEqual(zoomed(firstPeriod(short, ''), { factor: 2, anchor: day(395), all: short }), { start: day(310), end: day(400) })
})

test('scenes are grouped by source and day in the order of the list, with what they cover together', () => {
  const of = (id: string, datetime: string, box: [number, number, number, number], fields: object = {}) =>
    ({ ...sceneFromCatalog(catalogScene({ datetime }, { id, geometry: boxPolygon(box) }), ORIGIN, AREA), ...fields }) as Scene
  const list = [
    of('a', '2026-11-16T10:00:00Z', [10, 10, 10.5, 11]),
    of('b', '2026-11-15T10:00:00Z', [10, 10, 11, 11]),
    of('c', '2026-11-16T09:00:00Z', [10.4, 10, 11, 11]),
    of('d', '2026-11-16T09:00:00Z', [10, 10, 11, 11], { host: 'other', label: 'Other' }),
  ]
  const groups = groupsOf(list)
  assert.deepEqual(
    groups.map(({ title, scenes: members }) => [title, members.map(({ id }) => id).join()]),
    [
      ['A vendor, 16 Nov', 'a,c'],
      ['A vendor, 15 Nov', 'b'],
      ['Other, 16 Nov', 'd'],
    ],
  )
  const price = (credits: number): ScenePrice => ({ credits, billedByVendor: null })
  const summary = (prices: [string, ScenePrice][]) => summaryOf(groups[0]!, AREA, new Map(prices))
  assert.equal(summary([]), '2 scenes, 100% of the area')
  assert.equal(summary([[list[0]!.key, price(310)]]), '2 scenes, 100% of the area, from A$3.10')
  assert.equal(
    summary([
      [list[0]!.key, price(310)],
      [list[2]!.key, price(310)],
    ]),
    '2 scenes, 100% of the area, A$3.10 each',
  )
})
