// Goal: open scenes are shown in the styles that their bands allow, at full resolution; simulated imagery comes last; sources that
// cannot be reached are named with the time; a saved search keeps what the form does not show.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { CatalogScene, CatalogSource, SavedSearch } from '../../packages/console/src/api/contract.ts'
import { boxPolygon, decodeArea } from '../../packages/console/src/map/geo.ts'
import { automationOf, draftFrom, searchFrom, urlOfSearch } from '../../packages/console/src/screens/explore/saved-search.ts'
import { bandRolesOf, fullResolutionZoom, stylesOf, tilesIn } from '../../packages/console/src/screens/explore/scene-styles.ts'
import { filtersFromUrl, sceneFromCatalog, sortScenes } from '../../packages/console/src/screens/explore/scenes.ts'
import { outageText, unreachableText } from '../../packages/console/src/screens/explore/source-status.ts'
import { termsOf } from '../../packages/console/src/state/terms.ts'
import { originOf } from '../../packages/console/src/screens/viewer/origin.ts'

before(() => Object.defineProperty(globalThis, 'location', { value: { origin: 'https://maps.example' }, configurable: true }))
after(() => Reflect.deleteProperty(globalThis, 'location'))

const NOW = new Date('2026-11-17T13:00:00Z')
const AREA = boxPolygon([2.2, 48.1, 2.4, 48.3])
const listed = (...ids: string[]) => ({ visualizations: ids.map((id) => ({ id, label: id.toUpperCase() })), default_id: ids[0] ?? null })

test('styles begin with true colour, false colour and NDVI as far as the bands allow, then the default, then all others', () => {
  const labels = (...ids: string[]) => stylesOf(listed(...ids)).map(({ label }) => label)
  assert.deepEqual(labels('rgb', 'cir', 'swir', 'evi', 'ndvi'), ['True colour', 'False colour', 'NDVI', 'SWIR', 'EVI'])
  assert.deepEqual(labels('urban', 'evi', 'rgb'), ['True colour', 'URBAN', 'EVI'])
  assert.deepEqual(labels('elevation'), ['ELEVATION'])
  assert.deepEqual(labels(), [])
  const bands = [{ name: 'coastal', role: null }, { name: 'red', role: 'RED' }] // prettier-ignore
  assert.deepEqual(bandRolesOf(bands), { coastal: 1, RED: 2 })
})

test('tiles keep their template and the provider of the scene', () => {
  const href = 'https://other.example/api/v1/catalog/s2/a%2Fb/tiles/{z}/{x}/{y}.webp?provider=earth-search'
  const feature = { id: 'a/b', collection: 's2', geometry: AREA, properties: {}, links: [{ rel: 'xyz', href }] } as unknown as CatalogScene
  const { tiles, collection, isSimulated } = sceneFromCatalog(
    feature,
    { vendor: { host_name: 'h', title: 'H', access_model: 'open' }, source: undefined },
    null,
  )
  assert.deepEqual([collection, isSimulated], ['s2', false])
  assert.equal(
    tilesIn(tiles!, { id: 'ndvi', label: 'NDVI' }),
    'https://maps.example/api/v1/catalog/s2/a%2Fb/tiles/{z}/{x}/{y}.webp?provider=earth-search&visualization=ndvi',
  )
  assert.equal(tilesIn('/t/{z}', { id: 'rgb', label: '' }), 'https://maps.example/t/{z}?visualization=rgb')
  assert.equal(tilesIn('/t/{z}', null), 'https://maps.example/t/{z}')
  const custom = { id: '', label: '', expression: '(nir-red)/nir', colormap: 'viridis' }
  assert.equal(tilesIn('/t/{z}', custom), 'https://maps.example/t/{z}?expression=%28nir-red%29%2Fnir&colormap=viridis')
})

test('at the zoom level of full resolution, a tile pixel is at most as large as a pixel of the scene', () => {
  assert.deepEqual([fullResolutionZoom(10, 0), fullResolutionZoom(30, 48), fullResolutionZoom(null, 0)], [14, 12, 14])
  fc.assert(
    fc.property(fc.double({ min: 0.05, max: 1_000, noNaN: true }), fc.double({ min: -90, max: 90, noNaN: true }), (gsdM, latitude) => {
      const zoom = fullResolutionZoom(gsdM, latitude)
      const perPixel = (156_543.034 * Math.cos((Math.min(85, Math.abs(latitude)) * Math.PI) / 180)) / 2 ** zoom
      assert.ok(Number.isInteger(zoom) && zoom >= 0 && zoom <= 22)
      assert.ok(zoom === 22 || perPixel <= gsdM * 1.000001)
    }),
  )
})

test('real scenes come before simulated ones in every order', () => {
  const scene = (id: string, isSimulated: boolean, day: number) =>
    ({ id, isSimulated, datetime: `2026-11-0${day}T00:00:00Z`, cloud: day, covered: day / 10, isForSale: false }) as never
  const scenes = [scene('a', true, 9), scene('b', false, 1), scene('c', true, 1), scene('d', false, 5)] as Parameters<typeof sortScenes>[0]
  const idsOf = (sorted: readonly { id: string }[]) => sorted.map(({ id }) => id).join('')
  const order = (sort: Parameters<typeof sortScenes>[1]) => idsOf(sortScenes(scenes, sort, new Map()))
  assert.deepEqual([order('newest'), order('clearest'), order('covers'), order('cheapest')], ['dbac', 'bdca', 'dbac', 'dbac'])
})

test('sources that cannot be reached are named, with the time and the day unless it is today', () => {
  const source = (title: string, status: CatalogSource['status'], status_since: string | null = '2026-11-17T12:04:00Z') =>
    ({ title, status, status_since, status_error: null }) as const
  const reachable = source('CDSE', 'reachable')
  const lost = source('Earth Search', 'unreachable')
  assert.equal(outageText([reachable, source('New', 'unknown')], NOW), null)
  assert.equal(outageText([lost, reachable], NOW), 'Earth Search cannot be reached since 12:04 UTC; other sources were searched')
  assert.equal(unreachableText(source('X', 'unreachable', '2026-11-15T23:59:00Z'), NOW), 'cannot be reached since 15 Nov, 23:59 UTC')
  assert.equal(unreachableText(source('X', 'unreachable', null), NOW), 'cannot be reached')
  assert.equal(outageText([lost], NOW), 'Earth Search cannot be reached since 12:04 UTC; no other source was selected')
  const many = ['A', 'B', 'C', 'D'].map((title) => source(title, 'unreachable'))
  assert.equal(outageText([...many, reachable], NOW), 'A, B, C and 1 more cannot be reached; other sources were searched')
})

const SOURCES = [
  { id: 'es', host_name: 'earth-search', access_model: 'open' },
  { id: 'shop', host_name: 'shop', access_model: 'commercial' },
] as CatalogSource[]

test('a search is saved with its area, its open sources and its cloud cover, and opens again as the same search', () => {
  const filters = filtersFromUrl({ cloud: '35', sources: 'earth-search.shop' }, AREA)
  const draft = { ...draftFrom(null, filters), name: '  Fields ' }
  assert.deepEqual([draft.action, draft.maxCloud, draft.mode], ['add', 35, 'reference'])
  const now = { area: AREA, sources: SOURCES, url: { sort: 'clearest', gsd: '2', sel: 'x', sources: 'earth-search.shop' } }
  const input = searchFrom(draft, 'p1', { ...now, filters })!
  assert.deepEqual([input.name, input.source_ids, input.max_cloud_cover, input.active], ['Fields', ['es'], 35, true])
  const shopOnly = filtersFromUrl({ sources: 'shop' }, AREA)
  assert.equal(searchFrom(draft, 'p1', { ...now, filters: shopOnly }), null)
  const told = searchFrom({ ...draft, action: 'tell', email: true }, 'p1', { ...now, filters: shopOnly })!
  assert.deepEqual([told.source_ids, told.auto_add?.mode, told.auto_add?.email], [['shop'], 'notify', true])
  const everything = searchFrom({ ...draft, action: 'tell' }, 'p1', { ...now, filters: filtersFromUrl({}, AREA) })!
  assert.deepEqual(everything.source_ids, ['es', 'shop'])
  const saved = { area: input.area, source_ids: ['es', 'gone'], max_cloud_cover: 35, display: null } as unknown as SavedSearch
  const url = urlOfSearch(saved, SOURCES)
  const restored = urlOfSearch({ ...saved, display: input.display! }, SOURCES)
  const { sort, gsd, sources, sel, from } = restored as unknown as Record<string, string | null>
  assert.deepEqual([sort, gsd, sources, sel, from], ['clearest', '2', 'earth-search.shop', null, null])
  assert.deepEqual([url.cloud, url.sources, url.bbox], ['35', 'earth-search', null])
  assert.deepEqual(decodeArea(url.aoi!), AREA)
})

test('editing a saved search keeps its collection and daily limit, and can end automatic adding', () => {
  const auto_add = { mode: 'copy', collection_id: 'c1', max_cloud_cover: null, max_scenes_per_day: 7, email: true } as const
  const search = { name: 'Fields', auto_add, active: true, max_cloud_cover: 40 } as SavedSearch
  const draft = draftFrom(search, null)
  assert.deepEqual(draft, { name: 'Fields', action: 'add', maxCloud: 40, mode: 'copy', collectionId: 'c1', email: true })
  assert.deepEqual(automationOf({ ...draft, maxCloud: 500 }, search), { auto_add: { ...auto_add, max_cloud_cover: 100 }, active: true })
  assert.deepEqual(automationOf({ ...draft, collectionId: '' }, search).auto_add, { ...auto_add, max_cloud_cover: 40, collection_id: null })
  assert.deepEqual(automationOf({ ...draft, action: 'none' }, search), { auto_add: null, active: false })
})

const KNOWN = [{ host_name: 'earth-search', title: 'Earth Search', collections: [{ id: 's2', title: 'Sentinel-2' }] }]

test('the origin of an item has links only to web pages, and names of sources', () => {
  const rows = originOf(
    {
      license: 'CC-BY-4.0',
      attribution: ' ',
      'svc:scene_host': 'earth-search',
      'svc:scene_collection': 's2',
      'svc:scene_id': 'S2B',
      'svc:scene_url': 'javascript:alert(1)',
      'svc:license_url': 'https://licences.example/cc-by',
    },
    KNOWN,
  )
  assert.deepEqual(rows, [
    { name: 'Licence', text: 'CC-BY-4.0', url: 'https://licences.example/cc-by' },
    { name: 'Source', text: 'Earth Search', url: null },
    { name: 'Collection', text: 'Sentinel-2', url: null },
    { name: 'Scene', text: 'S2B', url: null },
  ])
  assert.deepEqual(originOf({ 'svc:scene_host': 'gone' }, KNOWN), [{ name: 'Source', text: 'gone', url: null }])
  assert.deepEqual(originOf({}, KNOWN), [])
})

test('a licence has its name, never a placeholder of STAC', () => {
  const [name, url] = ['Copernicus Sentinel data terms', 'https://licences.example/sentinel']
  const shown = (properties: object) => {
    const { licence, url: link, attribution } = termsOf({ ...properties })
    return [licence, link, attribution]
  }
  assert.deepEqual(shown({ license: 'other', 'svc:license_name': name, 'svc:license_url': url, attribution: 'ESA' }), [name, url, 'ESA'])
  assert.deepEqual(shown({ license: 'CC0-1.0' }), ['CC0-1.0', null, null])
  assert.deepEqual(shown({ license: 'proprietary', 'svc:license_url': url }), ['Terms of use', url, null])
  assert.deepEqual(shown({ license: 'various' }), ['See the terms of the source', null, null])
  assert.deepEqual(shown({ 'svc:license_url': url }), ['Terms of use', url, null])
  assert.deepEqual(shown({ 'svc:license_url': 'javascript:alert(1)' }), [null, null, null])
})
