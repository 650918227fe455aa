import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import { square } from '../../../../test/orders/support.ts'
import { filterOf, geometryFor, intervalOf, orderParametersOf, recognize, windowOf, type Wanted } from './request.ts'
import type { Order } from './wire.ts'

const PARAMS = { acquisitionStart: '2030-01-02T00:00:00Z', acquisitionEnd: '2030-01-20T00:00:00Z' }
const AREA = square()

const wantedBy = (reference: string): Wanted => ({
  product: 'P',
  geometry: AREA,
  window: windowOf(PARAMS, reference)!,
  createdAt: new Date('2030-01-01T00:00:00Z'),
})
const orderOf = ({ product, window }: Wanted, more: Partial<Order['properties']> = {}, geometry: object = AREA): Order => ({
  id: 'x',
  geometry: geometry as Order['geometry'],
  properties: {
    product_id: product,
    created: '2030-01-01T00:00:01Z',
    status: { status_code: 'received' },
    search_parameters: { datetime: intervalOf(window) },
    ...more,
  },
})

// Goal: the window of an order stays within the one that was asked for, and tells whose order it is.
test('the handle of an order is its window', () => {
  const [from, to] = [Date.parse(PARAMS.acquisitionStart), Date.parse(PARAMS.acquisitionEnd)]
  for (let nth = 0; nth < 500; nth++) {
    const [mine, other] = [wantedBy(newId()), wantedBy(newId())]
    assert.ok(mine.window.from.getTime() >= from && mine.window.from.getTime() < from + 1_000)
    assert.ok(mine.window.to.getTime() < to && mine.window.to.getTime() >= to - 1_000)
    assert.equal(recognize(orderOf(mine), mine), 'ours')
    // Two of a million references share a window.
    if (intervalOf(mine.window) !== intervalOf(other.window)) assert.equal(recognize(orderOf(other), mine), 'other')
  }
  const mine = wantedBy('a reference')
  const python = intervalOf(mine.window).replaceAll(/\.(\d{3})Z/g, '.$1000+00:00')
  const coarse = intervalOf(mine.window).replaceAll(/\.\d{3}Z/g, 'Z')
  const at = (datetime: string) => ({ search_parameters: { datetime } })
  assert.equal(recognize(orderOf(mine, at(python)), mine), 'ours', 'as Python writes it')
  assert.equal(recognize(orderOf(mine, at(coarse)), mine), 'unclear')
  assert.equal(recognize(orderOf(mine, at('2030-01-02T00:00:00Z/2030-01-21T00:00:00Z')), mine), 'other')
  assert.equal(recognize(orderOf(mine, { product_id: 'Q' }), mine), 'other')
  assert.equal(recognize(orderOf(mine, { created: '2029-12-31T22:00:00Z' }), mine), 'other', 'older than ours')
  assert.equal(recognize(orderOf(mine, {}, square(3)), mine), 'other')
  const shaken = JSON.parse(JSON.stringify(AREA).replaceAll('48.2,', '48.20000000001,'))
  assert.equal(recognize(orderOf(mine, {}, shaken), mine), 'ours', 'less than a millimetre')
  for (const params of [{}, { ...PARAMS, acquisitionEnd: 'soon' }, { ...PARAMS, acquisitionEnd: PARAMS.acquisitionStart }])
    assert.equal(windowOf(params, 'x'), null)
})

// Goal: parameters become the window, a filter or order parameters; none is lost or sent twice.
test('parameters of an order', () => {
  assert.equal(filterOf(PARAMS), null)
  const cloud = { op: '<=', args: [{ property: 'eo:cloud_cover' }, 20] }
  const own = { op: '=', args: [{ property: 'mode' }, 'spot'] }
  assert.deepEqual(filterOf({ ...PARAMS, cloudCoverage: 20 }), cloud)
  assert.deepEqual(filterOf({ ...PARAMS, cloudCoverage: 20, filter: own }), { op: 'and', args: [cloud, own] })
  assert.deepEqual(orderParametersOf({ ...PARAMS, cloudCoverage: 20, filter: own, priority: 'high' }), { priority: 'high' })
})

// Goal: an area is sent in a form that the product accepts, or not at all.
test('geometries that a product accepts', () => {
  const types = (...names: string[]) => names.map((name) => `https://geojson.org/schema/${name}.json`)
  const two = { type: 'MultiPolygon', coordinates: [AREA.coordinates, square(3).coordinates] } as never
  const one = { type: 'MultiPolygon', coordinates: [AREA.coordinates] } as never
  const point = { type: 'Point' as const, coordinates: [2, 48] as [number, number] }
  assert.deepEqual(geometryFor(AREA, types('Polygon')), AREA)
  assert.deepEqual(geometryFor(one, types('Polygon')), AREA)
  assert.deepEqual(geometryFor(AREA, types('MultiPolygon')), one)
  assert.equal(geometryFor(AREA, types('Point'))?.type, 'Point')
  assert.deepEqual(geometryFor(point, types('Point')), point)
  assert.equal(geometryFor(two, types('Point', 'Polygon')), null)
  assert.equal(geometryFor(point, types('Polygon')), null)
  assert.equal(geometryFor(AREA, []), null)
})
