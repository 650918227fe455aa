// Goal: a place is found by its name in any spelling or by its coordinates, and the scene that is shown of it is the newest clear one of
// Sentinel-2 that covers it, from a host that responds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { CatalogScene, CatalogSource } from '../../packages/console/src/api/contract.ts'
import { boxOf, boxPolygon, decodeArea } from '../../packages/console/src/map/geo.ts'
import { CITIES } from '../../packages/console/src/parts/places/cities.ts'
import { canShowRealImagery } from '../../packages/console/src/parts/places/open-sources.ts'
import { findPlace } from '../../packages/console/src/parts/places/place.ts'
import { sceneOf, type SearchScenes } from '../../packages/console/src/screens/explore/real-place.ts'

const at = (text: string) => {
  const place = findPlace(text)
  return place && [place.latitude, place.longitude]
}

test('cities, in any case, with or without accents, and with their country', () => {
  assert.deepEqual(at('Lisbon'), [38.72, -9.14])
  for (const text of ['São Paulo', 'sao paulo', ' SAO  PAULO ', 'São Paulo, Brazil', 'sao paulo, br'])
    assert.deepEqual(at(text), at('Sao Paulo'), text)
  for (const text of ['Zürich', 'zurich', 'ZURICH']) assert.equal(findPlace(text)?.name, 'Zürich')
  for (const text of ['St. Petersburg', 'saint petersburg', 'St Petersburg, Russia'])
    assert.equal(findPlace(text)?.name, 'Saint Petersburg')
  assert.notDeepEqual(at('Hyderabad, Pakistan'), at('Hyderabad'), 'the largest one, unless the country says otherwise')
  for (const text of ['', ' ', ',', 'Nowhere at all', 'Lisbon, Japan', '|']) assert.equal(findPlace(text), null, text)
})

test('every city of the list has a name, a country and a place on Earth, and is found by its name and country', () => {
  const rows = CITIES.trim().split(/;\s*|\n/)
  assert.ok(rows.length >= 500, `${rows.length}`)
  for (const row of rows) {
    const [, name, country, latitude, longitude] = /^([^|]+)\|([A-Z]{2})\|(-?[\d.]+)\|(-?[\d.]+)$/.exec(row) ?? []
    assert.ok(name && country && Math.abs(Number(latitude)) < 80 && Math.abs(Number(longitude)) <= 180, row)
    assert.deepEqual(at(`${name}, ${country}`), [Number(latitude), Number(longitude)], row)
  }
})

test('coordinates: latitude first, unless directions or the range say otherwise', () => {
  assert.deepEqual(at('48.2, 2.3'), [48.2, 2.3])
  assert.deepEqual(at('-33.87 151.21'), [-33.87, 151.21])
  assert.deepEqual(at('33.87° S, 151.21° E'), [-33.87, 151.21])
  assert.deepEqual(at('9.14W; 38.72N'), [38.72, -9.14])
  assert.deepEqual(at('151.21, −33.87'), [-33.87, 151.21])
  for (const text of ['91, 181', '48.2', '48.2, 2.3, 1', '1e2, 3', '95 N, 3 E']) assert.equal(findPlace(text), null, text)
  const degrees = (most: number) => fc.integer({ min: -most * 1e4, max: most * 1e4 }).map((value) => value / 1e4)
  fc.assert(fc.property(degrees(90), degrees(180), (y, x) => assert.deepEqual(at(`${y.toFixed(4)}, ${x.toFixed(4)}`), [y, x])))
})

const NOW = new Date('2026-11-17T13:00:00Z')
const source = (host_name: string, more: object = {}) =>
  ({
    host_name,
    title: host_name.toUpperCase(),
    access_model: 'open',
    simulated: false,
    status: 'reachable',
    collections: [{ id: 'sentinel-2-l2a', render_strategy: 'cog' }],
    ...more,
  }) as unknown as CatalogSource

test('real imagery is offered only by open hosts that respond and can be rendered', () => {
  assert.ok(canShowRealImagery(source('a')))
  for (const more of [
    { status: 'unreachable' },
    { status: 'unknown' },
    { simulated: true },
    { access_model: 'commercial' },
    { collections: [{ id: 'sentinel-2-l2a', render_strategy: 'preview' }] },
    { collections: [{ id: 'cop-dem-glo-30', render_strategy: 'cog' }] },
  ])
    assert.ok(!canShowRealImagery(source('a', more)), JSON.stringify(more))
})

const scene = (id: string, day: string, cloud: number, { collection = 'sentinel-2-l2a', box = [2, 48, 3, 49] } = {}) =>
  ({
    id,
    collection,
    geometry: boxPolygon(box as [number, number, number, number]),
    properties: { datetime: `${day}T10:00:00Z`, 'eo:cloud_cover': cloud },
  }) as unknown as CatalogScene

const PLACE = { name: 'Here', longitude: 2.3, latitude: 48.2 }

test('the newest clear scene that covers the place is selected, in the search that found it', async () => {
  const asked: Parameters<SearchScenes>[0][] = []
  const search: SearchScenes = async (input) => {
    asked.push(input)
    return {
      features: [
        scene('beside', '2026-11-16', 1, { box: [3, 48, 4, 49] }),
        scene('elevation', '2026-11-15', 0, { collection: 'cop-dem-glo-30' }),
        scene('older', '2026-11-01', 0),
        scene('newest', '2026-11-10', 15),
      ],
    }
  }
  const found = await sceneOf(PLACE, { sources: [source('earth-search')], search, now: NOW })
  assert.ok('url' in found)
  const { sel, sources, from, cloud, style, place, aoi } = found.url
  assert.deepEqual([sel, sources, from, cloud, style, place], ['earth-search/newest', 'earth-search', '2026-09-18', '20', 'rgb', null])
  const area = decodeArea(aoi!)!
  assert.deepEqual(asked, [
    { host_name: 'earth-search', intersects: area, datetime: '2026-09-18/..', query: { cloudCoverage: { LTE: 20 } }, limit: 100 },
  ])
  const [west, south, east, north] = boxOf(area)!
  assert.ok(west < 2.3 && east > 2.3 && south < 48.2 && north > 48.2)
})

test('without a clear scene, the least cloudy one of a year; a host that fails leaves the next one', async () => {
  const search: SearchScenes = async ({ host_name, query }) => {
    if (host_name === 'broken') throw new Error('did not respond')
    return { features: query ? [] : [scene('grey', '2026-11-10', 90), scene('better', '2026-03-10', 35)] }
  }
  const both = await sceneOf(PLACE, { sources: [source('broken'), source('works')], search, now: NOW })
  assert.deepEqual('url' in both && [both.url.sel, both.url.cloud, both.url.sort], ['works/better', null, 'clearest'])
  const none = await sceneOf(PLACE, { sources: [source('broken')], search, now: NOW })
  assert.deepEqual(none, { problem: 'BROKEN: did not respond' })
  assert.match(JSON.stringify(await sceneOf(PLACE, { sources: [], search, now: NOW })), /No host of open imagery can be reached/)
  const empty = await sceneOf(PLACE, { sources: [source('works')], search: async () => ({ features: [] }), now: NOW })
  assert.deepEqual(empty, { problem: 'No Sentinel-2 scene of Here from the last year was found.' })
})
