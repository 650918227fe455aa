/** Geometries of CQL2-Text, which are written as WKT, as GeoJSON. */
import { invalidField } from './problem.ts'

/** What reading one needs of the parser around it. */
interface Words {
  accept(word: string): boolean
  expect(word: string): void
  number(): number
  isNumber(): boolean
  word(): string
  refuse(wanted: string): Error
}

const MAX_NUMBERS = 4
const MAX_DEPTH = 4

const NAMES: Readonly<Record<string, { type: string; depth: number }>> = {
  POINT: { type: 'Point', depth: 0 },
  LINESTRING: { type: 'LineString', depth: 1 },
  MULTIPOINT: { type: 'MultiPoint', depth: 1 },
  POLYGON: { type: 'Polygon', depth: 2 },
  MULTILINESTRING: { type: 'MultiLineString', depth: 2 },
  MULTIPOLYGON: { type: 'MultiPolygon', depth: 3 },
}

/** The name of the geometry has been read already. */
export function wktGeometry(words: Words, name: string, depth = 0): unknown {
  if (depth > MAX_DEPTH) throw invalidField('filter', `has collections of geometries nested deeper than ${MAX_DEPTH}`)
  if (name === 'BBOX') return box(words)
  words.accept('Z')
  if (name === 'GEOMETRYCOLLECTION')
    return { type: 'GeometryCollection', geometries: listOf(words, () => wktGeometry(words, words.word(), depth + 1)) }
  const known = NAMES[name]
  if (!known) throw words.refuse('the name of a geometry before it')
  return { type: known.type, coordinates: coordinates(words, known.depth) }
}

function listOf<T>(words: Words, read: () => T): T[] {
  words.expect('(')
  const values = [read()]
  while (words.accept(',')) values.push(read())
  words.expect(')')
  return values
}

function coordinates(words: Words, depth: number): unknown {
  if (depth > 0) return listOf(words, () => (depth === 1 ? position(words) : coordinates(words, depth - 1)))
  words.expect('(')
  const only = position(words)
  words.expect(')')
  return only
}

/** The points of a MULTIPOINT may stand in parentheses of their own. */
function position(words: Words): number[] {
  const isWrapped = words.accept('(')
  const numbers = [words.number()]
  while (words.isNumber() && numbers.length < MAX_NUMBERS) numbers.push(words.number())
  if (isWrapped) words.expect(')')
  return numbers
}

/** As in JSON, where it is checked and becomes a rectangle. */
const box = (words: Words): unknown => ({ bbox: listOf(words, () => words.number()) })
