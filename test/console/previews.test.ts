// Goal: previews go where they belong, whatever their vendor delivers, and never more of them than a map can show.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { boxOf, contains, cornersOf, type Position } from '../../packages/console/src/map/geo.ts'
import { boxCorners, fillsBox, GRID } from '../../packages/console/src/map/place-picture.ts'
import * as previews from '../../packages/console/src/screens/explore/previews.ts'

/** A square around the origin, turned clockwise. */
function turned(degrees: number): GeoJSON.Polygon {
  const angle = (degrees * Math.PI) / 180
  const turn = ([x, y]: Position): Position => [x * Math.cos(angle) + y * Math.sin(angle), y * Math.cos(angle) - x * Math.sin(angle)]
  const corners: Position[] = [[-1, 1], [1, 1], [1, -1], [-1, -1], [-1, 1]] // prettier-ignore
  return { type: 'Polygon', coordinates: [corners.map(turn)] }
}

const samples = (pixel: (isInside: boolean) => readonly number[], footprint: GeoJSON.Polygon): number[] => {
  const [west, south, east, north] = boxOf(footprint)!
  return Array.from({ length: GRID * GRID }, (_, index): readonly number[] => {
    const [column, row] = [index % GRID, Math.floor(index / GRID)]
    return pixel(contains(footprint, [west + ((column + 0.5) / GRID) * (east - west), north - ((row + 0.5) / GRID) * (north - south)]))
  }).flat()
}
const { MAX_PREVIEWS, previewsFromUrl, previewsInUrl, withPreviews, withoutPreview } = previews
const GROUND = [90, 120, 60, 255]

test('a picture with nothing outside the footprint covers its bounding box; a full one covers the footprint itself', () => {
  fc.assert(
    fc.property(fc.double({ min: 4, max: 40, noNaN: true }), fc.constantFrom([0, 0, 0, 255], [255, 255, 255, 0]), (degrees, empty) => {
      const footprint = turned(degrees)
      const box = boxOf(footprint)!
      assert.equal(
        fillsBox(
          footprint,
          box,
          samples((isInside) => (isInside ? GROUND : empty), footprint),
        ),
        true,
      )
      assert.equal(
        fillsBox(
          footprint,
          box,
          samples(() => GROUND, footprint),
        ),
        false,
      )
    }),
  )
  assert.equal(
    fillsBox(
      turned(0),
      boxOf(turned(0))!,
      samples(() => GROUND, turned(0)),
    ),
    true,
    'a footprint along the meridians is its box',
  )
})

test('corners run clockwise from the top left, also of a turned footprint', () => {
  const near = (a: Position, b: Position) => Math.hypot(a[0] - b[0], a[1] - b[1]) < 1e-9
  for (const degrees of [-40, -15, 0, 15, 40]) {
    const footprint = turned(degrees)
    const expected = (footprint.coordinates[0] as Position[]).slice(0, 4)
    assert.ok(
      cornersOf(footprint)!.every((corner, index) => near(corner, expected[index]!)),
      `${degrees}`,
    )
  }
  assert.deepEqual(boxCorners([1, 2, 3, 4]), [[1, 4], [3, 4], [3, 2], [1, 2]]) // prettier-ignore
})

test('the newest previews are kept, each once, and the address has them all', () => {
  const key = fc.stringMatching(/^[a-z]{1,6}\/[A-Za-z0-9_.-]{1,12}$/)
  fc.assert(
    fc.property(fc.array(key, { maxLength: 40 }), (keys) => {
      const shown = keys.reduce<string[]>((before, next) => withPreviews(before, [next]), [])
      assert.ok(shown.length <= MAX_PREVIEWS)
      assert.deepEqual(shown, [...new Set(keys.toReversed())].slice(0, MAX_PREVIEWS).toReversed())
      assert.deepEqual(previewsFromUrl(previewsInUrl(shown) ?? undefined), shown)
      for (const one of shown) assert.ok(!withoutPreview(shown, one).includes(one))
    }),
  )
  assert.equal(previewsInUrl([]), null)
})
