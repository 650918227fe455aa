/** Run: PEER_PYTHON=venv/bin/python npm test -- test/peers/relate.ts. The interpreter needs shapely. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import type { Geometry, Position } from '#core/geometry.ts'
import { holds, shapeOf, SPATIAL_RELATIONS } from '#core/relate.ts'
import { dice } from '../support/geometries.ts'

const PAIRS = 30_000
const roll = dice(7)
const upTo = (count: number) => Math.floor(roll() * count)
/** On a small grid, so that corners and edges meet often. */
const point = (): Position => [upTo(6), upTo(6)]
const line = (): Position[] => {
  const path = Array.from({ length: 2 + upTo(3) }, point)
  return path.slice(1).some(([x, y], index) => x === path[index]![0] && y === path[index]![1]) ? line() : path
}
const box = (x = upTo(5), y = upTo(5), width = 1 + upTo(4), height = 1 + upTo(4)): Position[] => [
  [x, y],
  [x + width, y],
  [x + width, y + height],
  [x, y + height],
  [x, y],
]
const frame = (): Position[][] => {
  const [x, y] = [upTo(2), upTo(2)]
  return [box(x, y, 4, 4), box(x + 1, y + 1, 2, 2).toReversed()]
}
const ring = (): Position[] => {
  const [x, y, corners] = [1 + upTo(4), 1 + upTo(4), 3 + upTo(4)]
  const path = Array.from({ length: corners }, (_, index): Position => {
    const [angle, radius] = [(index / corners) * 2 * Math.PI + roll(), 1 + upTo(3)]
    return [Math.round(x + radius * Math.cos(angle)), Math.round(y + radius * Math.sin(angle))]
  })
  return [...path, path[0]!]
}
const MAKERS: readonly (() => Geometry)[] = [
  () => ({ type: 'Point', coordinates: point() }),
  () => ({ type: 'MultiPoint', coordinates: [point(), point(), point()] }),
  () => ({ type: 'LineString', coordinates: line() }),
  () => ({ type: 'MultiLineString', coordinates: [line(), line()] }),
  () => ({ type: 'Polygon', coordinates: [ring()] }),
  () => ({ type: 'Polygon', coordinates: frame() }),
  () => ({ type: 'MultiPolygon', coordinates: [[box()], [box()]] }),
  () => ({ type: 'Polygon', coordinates: [box()] }),
]
const any = (): Geometry => MAKERS[upTo(MAKERS.length)]!()

// Goal: the six relations of geometries are those of shapely, where geometries share points, corners and edges.
test('relations beside shapely', (t) => {
  const pairs = Array.from({ length: PAIRS }, (_, index) => {
    const first = any()
    return [first, index % 20 === 0 ? first : any()] as const
  })
  const script = new URL('./relate.py', import.meta.url).pathname
  const { stdout, stderr, status } = spawnSync(process.env['PEER_PYTHON'] ?? 'python3', [script], {
    input: pairs.map((pair) => JSON.stringify(pair)).join('\n'),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  assert.equal(status, 0, stderr)
  const verdicts = stdout
    .trim()
    .split('\n')
    .map((each) => JSON.parse(each) as boolean[] | null)
  assert.equal(verdicts.length, PAIRS)
  const held = new Map<string, number>()
  for (const [index, [a, b]] of pairs.entries()) {
    const verdict = verdicts[index]
    if (!verdict) continue
    for (const [which, relation] of SPATIAL_RELATIONS.entries()) {
      assert.equal(holds(relation, shapeOf(a), shapeOf(b)), verdict[which], `${relation} ${JSON.stringify([a, b])}`)
      if (verdict[which]) held.set(relation, (held.get(relation) ?? 0) + 1)
    }
  }
  t.diagnostic(`${verdicts.filter((each) => each !== null).length} pairs of valid geometries; held: ${JSON.stringify([...held])}`)
  for (const relation of SPATIAL_RELATIONS) assert.ok((held.get(relation) ?? 0) > 500, relation)
})
