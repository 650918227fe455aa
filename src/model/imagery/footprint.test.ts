import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { boundsOf } from '#core/position.ts'
import { requireGeometry, type AreaGeometry, type Position } from '#core/geometry.ts'
import { areaOf, boxesOf, cellsOf, cellsToRead, footprintOf, partsOf, rectangle, stepsOf, type Bbox, type Part } from './footprint.ts'

const degrees = (limit: number) => fc.integer({ min: -limit * 8, max: limit * 8 }).map((v) => v / 8)
const box: fc.Arbitrary<Bbox> = fc
  .tuple(degrees(180), degrees(180), degrees(90), degrees(90))
  .map(([a, b, c, d]) => [Math.min(a, b), Math.min(c, d), Math.max(a, b), Math.max(c, d)])
const anyBox: fc.Arbitrary<Bbox> = fc
  .tuple(degrees(180), degrees(180), degrees(90), degrees(90))
  .map(([a, b, c, d]) => [a, Math.min(c, d), b, Math.max(c, d)])
const overlap = (a: Bbox, b: Bbox) => a[0] <= b[2] && a[2] >= b[0] && a[1] <= b[3] && a[3] >= b[1]
const close = (ring: Position[]): Position[] => [...ring, ring[0]!]

/** Twice the area, by the shoelace formula: slits are walked both ways and cancel out. */
const area = (part: Part) =>
  Math.abs(
    part.reduce((sum, [x, y], i) => {
      const [u, v] = part[(i + 1) % part.length]!
      return sum + x * v - u * y
    }, 0),
  ) / 2

// Goal: boxes that overlap are always found through their cells and steps, also across the date line.
test('cells: two boxes that touch always share a cell that the search reads', () => {
  fc.assert(
    fc.property(fc.array(box, { minLength: 1, maxLength: 3 }), anyBox, (parts, query) => {
      const cells = cellsOf(parts.map(rectangle))
      const read = new Set(cellsToRead(boxesOf(query)))
      const touching = parts.some((part) => boxesOf(query).some((each) => overlap(part, each)))
      const isFound = cells.some(
        ({ cell, box: around }) =>
          read.has(cell) &&
          boxesOf(query).some((each) => {
            const [[x0, y0, x1, y1], [u0, v0, u1, v1]] = [stepsOf(around), stepsOf(each)]
            return x0 <= u1 && x1 >= u0 && y0 <= v1 && y1 >= v0
          }),
      )
      assert.ok(!touching || isFound)
      assert.ok(cells.length <= 32 && read.size <= 129, 'no item has many cells, no search reads many')
      for (const value of cells.flatMap(({ box: around }) => stepsOf(around)))
        assert.ok(value >= 0 && value <= 32_767, 'steps fit two bytes')
    }),
    { numRuns: 2_000 },
  )
})

// Goal: a ring across the date line is split into parts with the same total area, on either side of it.
test('the date line', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 400 }),
      fc.integer({ min: 1, max: 400 }),
      degrees(80),
      fc.integer({ min: 1, max: 80 }),
      (a, b, south, height) => {
        const [west, east, north] = [180 - a / 8, -180 + b / 8, south + height / 8]
        const bbox: Bbox = [west, south, east, north]
        const { parts, bbox: stated } = footprintOf(
          {
            type: 'Polygon',
            coordinates: [
              close([
                [west, south],
                [east, south],
                [east, north],
                [west, north],
              ]),
            ],
          },
          bbox,
        )
        assert.deepEqual(stated, bbox)
        assert.deepEqual(
          parts.map((part) => boundsOf(part)).toSorted((p, q) => q[0] - p[0]),
          [
            [west, south, 180, north],
            [-180, south, east, north],
          ],
        )
        assert.ok(Math.abs(parts.reduce((sum, part) => sum + area(part), 0) - (a / 8 + b / 8) * (north - south)) < 1e-9)
      },
    ),
  )
  const split = partsOf(
    {
      type: 'Polygon',
      coordinates: [
        close([
          [170, 0],
          [-170, 0],
          [-170, 10],
          [170, 10],
        ]),
        close([
          [175, 2],
          [-175, 2],
          [-175, 8],
          [175, 8],
        ]),
      ],
    },
    true,
  )
  assert.equal(
    split.reduce((sum, part) => sum + area(part), 0),
    20 * 10 - 10 * 6,
    'a hole over the date line is cut with its ring',
  )
})

// Goal: a ring around a pole includes the pole.
test('the poles', () => {
  for (const latitude of [70, -70]) {
    const parts = partsOf(
      {
        type: 'Polygon',
        coordinates: [
          close([
            [-120, latitude],
            [0, latitude],
            [120, latitude],
          ]),
        ],
      },
      true,
    )
    assert.deepEqual(boundsOf(parts.flat()), latitude > 0 ? [-180, 70, 180, 90] : [-180, -90, 180, -70])
    assert.ok(Math.abs(parts.reduce((sum, part) => sum + area(part), 0) - 360 * 20) < 1e-9)
  }
})

// Goal: slits neither add nor remove area: the result is the ring without its holes, in any order of holes.
test('holes', () => {
  const grid = fc.uniqueArray(fc.integer({ min: 0, max: 24 }), { minLength: 1, maxLength: 25 })
  fc.assert(
    fc.property(grid, (places) => {
      const holes = places.map((place): Position[] => {
        const [x, y] = [(place % 5) * 2 + 0.5, Math.floor(place / 5) * 2 + 0.5]
        return close([
          [x, y],
          [x, y + 1],
          [x + 1, y + 1],
          [x + 1, y],
        ])
      })
      const [part] = partsOf(
        {
          type: 'Polygon',
          coordinates: [
            close([
              [0, 0],
              [10, 0],
              [10, 10],
              [0, 10],
            ]),
            ...holes.map((hole, i) => (i % 2 === 0 ? hole : hole.toReversed())),
          ],
        },
        false,
      )
      assert.equal(area(part!), 100 - places.length)
      assert.equal(part!.length, 4 + places.length * 6)
      const walked = new Map<string, number>()
      part!.forEach((from, i) => {
        const to = part![(i + 1) % part!.length]!
        const [key, way] = `${from}` < `${to}` ? [`${from} ${to}`, 1] : [`${to} ${from}`, -1]
        walked.set(key, (walked.get(key) ?? 0) + way)
      })
      assert.equal([...walked.values()].filter((way) => way === 0).length, places.length, 'one slit a hole, both ways')
    }),
  )
})

// Goal: a stated box is accepted if it agrees with the geometry, allowing for rounding, and rejected otherwise.
test('boxes that agree and boxes that contradict', () => {
  const square = {
    type: 'Polygon' as const,
    coordinates: [
      close([
        [10, 50],
        [11, 50],
        [11, 51],
        [10, 51],
      ]),
    ],
  }
  assert.deepEqual(footprintOf(square, null).bbox, [10, 50, 11, 51])
  assert.deepEqual(footprintOf(square, [10.001, 50, 11, 50.999]).bbox, [10.001, 50, 11, 50.999])
  for (const wrong of [
    [10, 50, 12, 51],
    [9, 50, 11, 51],
    [-180, -90, 180, 90],
    [11, 50, 10, 51],
  ] as Bbox[])
    assert.throws(() => footprintOf(square, wrong), /does not match the geometry/)
  const split = {
    type: 'MultiPolygon' as const,
    coordinates: [
      [
        close([
          [179, 0],
          [180, 0],
          [180, 1],
          [179, 1],
        ]),
      ],
      [
        close([
          [-180, 0],
          [-178, 0],
          [-178, 1],
          [-180, 1],
        ]),
      ],
    ],
  }
  assert.deepEqual(footprintOf(split, null).bbox, [179, 0, -178, 1])
  assert.deepEqual(footprintOf(split, [-180, 0, 180, 1]).bbox, [-180, 0, 180, 1], 'the plain box of a split geometry is no contradiction')
})

// Goal: the outline of a raster becomes valid GeoJSON, in any orientation, across the date line and around a pole.
test('areaOf', async (t) => {
  const square = (west: number, south: number, size: number): [number, number][] => [
    [west, south],
    [west + size, south],
    [west + size, south + size],
    [west, south + size],
    [west, south],
  ]
  const areaSize = (geometry: AreaGeometry) =>
    (geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates).reduce(
      (sum, [ring]) =>
        sum + Math.abs(ring!.slice(1).reduce((all, [x, y], index) => all + ring![index]![0] * y - x * ring![index]![1], 0) / 2),
      0,
    )

  await t.test('any square is a valid geometry of the same size, counter-clockwise', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -540, max: 540, noNaN: true }),
        fc.double({ min: -80, max: 60, noNaN: true }),
        fc.double({ min: 0.001, max: 20, noNaN: true }),
        fc.boolean(),
        (west, south, size, turned) => {
          const ring = turned ? square(west, south, size).toReversed() : square(west, south, size)
          const geometry = areaOf(ring)
          requireGeometry(geometry, 'geometry')
          assert.ok(Math.abs(areaSize(geometry) - size * size) < 1e-4 * size + 1e-5, `${areaSize(geometry)} instead of ${size * size}`)
        },
      ),
    )
  })
  await t.test('over the date line it is two', () => {
    assert.deepEqual(areaOf(square(178, 0, 4)), {
      type: 'MultiPolygon',
      coordinates: [
        [
          [
            [178, 0],
            [180, 0],
            [180, 4],
            [178, 4],
            [178, 0],
          ],
        ],
        [
          [
            [-180, 0],
            [-178, 0],
            [-178, 4],
            [-180, 4],
            [-180, 0],
          ],
        ],
      ],
    })
  })
  await t.test('the whole Earth, and a cap around a pole', () => {
    const world = areaOf([
      [-180, -90],
      [180, -90],
      [180, 90],
      [-180, 90],
      [-180, -90],
    ])
    assert.deepEqual(footprintOf(requireGeometry(world, 'g'), null).bbox, [-180, -90, 180, 90])
    const cap = areaOf([
      [0, 70],
      [90, 70],
      [180, 70],
      [270, 70],
      [360, 70],
    ])
    assert.deepEqual(footprintOf(requireGeometry(cap, 'g'), null).bbox, [-180, 70, 180, 90])
  })
})
