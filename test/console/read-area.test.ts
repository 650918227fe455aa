// Goal: text that people paste becomes the area they mean, or says what to change; nothing else is thrown.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { areaOf, boxPolygon, type Position } from '../../packages/console/src/map/geo.ts'
import { AreaProblem, readArea } from '../../packages/console/src/map/read-area.ts'

const SQUARE: Position[] = [
  [0, 0],
  [10, 0],
  [10, 10],
  [0, 10],
  [0, 0],
]
const TRIANGLE: Position[] = [
  [20, 0],
  [24, 0],
  [22, 3],
  [20, 0],
]
/** More corners than the square that it lies in. */
const HOLE: Position[] = [
  [4, 4],
  [5, 3.5],
  [6, 4],
  [6.5, 5],
  [6, 6],
  [4, 6],
  [4, 4],
]
const wktRing = (ring: readonly Position[]) => `(${ring.map(([x, y]) => `${x} ${y}`).join(', ')})`
const polygon = (...coordinates: Position[][]) => ({ type: 'Polygon', coordinates })

async function ringOf(text: string): Promise<unknown> {
  const read = await readArea(text)
  assert.equal(read?.kind, 'area', text)
  return read?.kind === 'area' && read.geometry.coordinates[0]
}
const partsOf = async (text: string) => {
  const read = await readArea(text)
  return read?.kind === 'area' ? read.parts : null
}

test('a hole in well-known text is not a part of its own', async () => {
  const withHole = `POLYGON (${wktRing(SQUARE)}, ${wktRing(HOLE)})`
  assert.deepEqual(await ringOf(withHole), SQUARE)
  assert.equal(await partsOf(withHole), 1)
  const two = `MULTIPOLYGON ((${wktRing(TRIANGLE)}), (${wktRing(SQUARE)}, ${wktRing(HOLE)}))`
  assert.deepEqual(await ringOf(two), SQUARE)
  assert.equal(await partsOf(two), 2)
})

test('well-known text has heights, exponents and any case', async () => {
  assert.deepEqual(await ringOf('polygon z((0 0 5, 1e1 0 5, 10.0 +10 5, .0 10 5))'), SQUARE)
  assert.deepEqual(await ringOf('MultiPolygon(((0 0,10 0,10 10,0 10,0 0)))'), SQUARE)
})

test('GeoJSON of any kind gives its largest polygon, without holes', async () => {
  const geometries = [polygon(TRIANGLE), { type: 'Point', coordinates: [1, 2] }, polygon(SQUARE, HOLE)]
  const features = geometries.map((geometry) => ({ type: 'Feature', properties: {}, geometry }))
  const texts = [
    { type: 'FeatureCollection', features: [...features, { type: 'Feature', properties: {}, geometry: null }] },
    { type: 'GeometryCollection', geometries },
    { type: 'MultiPolygon', coordinates: [[TRIANGLE], [SQUARE, HOLE]] },
  ].map((value) => JSON.stringify(value))
  for (const text of texts) {
    assert.deepEqual(await ringOf(text), SQUARE, text)
    assert.equal(await partsOf(text), 2, text)
  }
  assert.deepEqual(await ringOf(JSON.stringify(features[2])), SQUARE)
})

test('a ring is closed, and heights are left out', async () => {
  assert.deepEqual(await ringOf(JSON.stringify(polygon(SQUARE.slice(0, -1).map(([x, y]) => [x, y, 300] as never)))), SQUARE)
})

test('four numbers are west, south, east, north', async () => {
  assert.deepEqual(await ringOf('0, 0, 10, 10'), SQUARE)
  assert.deepEqual(await ringOf('0 0;10 10'), SQUARE)
  await assert.rejects(readArea('10 0 0 10'), { message: /west < east/ })
})

test('coordinates are read as people write them', async () => {
  const place = async (text: string) => {
    const read = await readArea(text)
    return read?.kind === 'place' ? read.at.map((value) => Number(value.toFixed(4))) : read
  }
  assert.deepEqual(await place('-33.19, 137.99'), [137.99, -33.19])
  assert.deepEqual(await place('−33.19 137.99'), [137.99, -33.19], 'with a typographic minus')
  assert.deepEqual(await place('137.99, -33.19'), [137.99, -33.19], 'a first number beyond 90 is a longitude')
  assert.deepEqual(await place('33°11′24″S 137°59′24″E'), [137.99, -33.19])
  assert.deepEqual(await place("137°59.4'E, 33°11.4'S"), [137.99, -33.19])
  for (const text of ['', 'Port Pirie', '95°N 10°E', '10°N 12°N', '200, 300', '1 2 3']) assert.equal(await place(text), null, text)
})

test('what is not an area says what to change', async () => {
  const many = Array.from({ length: 5_001 }, (_, index): Position => {
    const angle = (index / 5_001) * 2 * Math.PI
    return [Math.cos(angle), Math.sin(angle)]
  })
  const cases: [string, RegExp][] = [
    ['{"type":', /not valid JSON/],
    ['{"type":"FeatureCollection"}', /No polygon found/],
    ['{"type":"Point","coordinates":[1,2]}', /do not enclose an area/],
    ['{"type":"Polygon"}', /must be rings/],
    ['{"type":"Polygon","coordinates":[]}', /must be rings/],
    ['{"type":"Polygon","coordinates":[[["a","b"]]]}', /must be rings/],
    [JSON.stringify(polygon(SQUARE.slice(0, 2))), /three corners/],
    [JSON.stringify(polygon(SQUARE.map(([x, y]) => [x * 1e5, y * 1e5]))), /EPSG:4326/],
    [JSON.stringify(polygon(many)), /more than 5,000 points/],
    ['POLYGON ((0 0, 1 1', /not valid WKT/],
    ['POLYGON ((0 0, 1e999 1, 1 0))', /not valid WKT/],
    ['POLYGON (0 0, 1 1, 1 0)', /must be rings/],
  ]
  for (const [text, message] of cases) await assert.rejects(readArea(text), { constructor: AreaProblem, message }, text.slice(0, 60))
})

const position = fc.tuple(fc.double({ min: -180, max: 180, noNaN: true }), fc.double({ min: -90, max: 90, noNaN: true }))

test('a polygon is the same in GeoJSON and in well-known text, and reading it again changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(position, { minLength: 3, maxLength: 40 }), async (corners) => {
      const ring = [...corners, corners[0]!]
      const fromJson = await ringOf(JSON.stringify(polygon(ring)))
      assert.deepEqual(await ringOf(`POLYGON (${wktRing(ring)})`), fromJson)
      assert.deepEqual(await ringOf(JSON.stringify(polygon(fromJson as Position[]))), fromJson)
    }),
  )
})

test('of several polygons, the one with the largest area is used', async () => {
  const box = fc
    .tuple(
      fc.double({ min: -170, max: 160, noNaN: true }),
      fc.double({ min: -80, max: 70, noNaN: true }),
      fc.double({ min: 0.01, max: 9, noNaN: true }),
    )
    .map(([west, south, size]) => boxPolygon([west, south, west + size, south + size]))
  await fc.assert(
    fc.asyncProperty(fc.array(box, { minLength: 1, maxLength: 8 }), async (boxes) => {
      const ring = (await ringOf(JSON.stringify({ type: 'GeometryCollection', geometries: boxes }))) as Position[]
      assert.equal(areaOf({ type: 'Polygon', coordinates: [ring] }), Math.max(...boxes.map(areaOf)))
    }),
  )
})

test('any other text is nothing, or a problem that can be shown', async () => {
  const wktLike = fc.string({ unit: fc.constantFrom('(', ')', ',', ' ', '1', '-', '.', 'e', '7') }).map((text) => `POLYGON (${text}`)
  const jsonLike = fc.record(
    {
      type: fc.constantFrom('Polygon', 'MultiPolygon', 'Feature', 'FeatureCollection', 'GeometryCollection', 'x'),
      coordinates: fc.jsonValue(),
    },
    { requiredKeys: ['type'] },
  )
  const nested = fc
    .tuple(jsonLike, fc.constantFrom('geometry', 'features', 'geometries'))
    .map(([inner, name]) => ({ type: 'Feature', [name]: inner }))
  const texts = fc.oneof(
    fc.string(),
    wktLike,
    jsonLike.map((value) => JSON.stringify(value)),
    nested.map((value) => JSON.stringify(value)),
  )
  await fc.assert(
    fc.asyncProperty(
      texts.filter((text) => !text.trim().startsWith('<')),
      async (text) => {
        const read = await readArea(text).catch((error: unknown) => error)
        if (read instanceof Error) return assert.ok(read instanceof AreaProblem, `${text}: ${read.stack}`)
        const at = read as Awaited<ReturnType<typeof readArea>>
        const positions = at === null ? [] : at.kind === 'place' ? [at.at] : at.geometry.coordinates[0]!
        for (const [x, y] of positions) assert.ok(Math.abs(x!) <= 180 && Math.abs(y!) <= 90, text)
      },
    ),
    { numRuns: 2_000 },
  )
})
