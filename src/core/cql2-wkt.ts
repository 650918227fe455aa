/** Converts geometries of CQL2-Text, which are WKT, to GeoJSON. */
import { invalidField } from './problem.ts'

/** The part of the surrounding parser that reading a geometry needs. */
interface Tokens {
  accept(word: string): boolean
  expect(word: string): void
  number(): number
  isNumber(): boolean
  word(): string
  refuse(expected: string): Error
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

/** The name of the geometry has already been read. */
export function wktGeometry(tokens: Tokens, name: string, depth = 0): unknown {
  if (depth > MAX_DEPTH) throw invalidField('filter', `must not have geometry collections nested deeper than ${MAX_DEPTH} levels`)
  if (name === 'BBOX') return box(tokens)
  tokens.accept('Z')
  if (name === 'GEOMETRYCOLLECTION')
    return { type: 'GeometryCollection', geometries: listOf(tokens, () => wktGeometry(tokens, tokens.word(), depth + 1)) }
  const geometry = NAMES[name]
  if (!geometry) throw tokens.refuse('a geometry name')
  return { type: geometry.type, coordinates: coordinates(tokens, geometry.depth) }
}

function listOf<T>(tokens: Tokens, read: () => T): T[] {
  tokens.expect('(')
  const values = [read()]
  while (tokens.accept(',')) values.push(read())
  tokens.expect(')')
  return values
}

function coordinates(tokens: Tokens, depth: number): unknown {
  if (depth > 0) return listOf(tokens, () => (depth === 1 ? position(tokens) : coordinates(tokens, depth - 1)))
  tokens.expect('(')
  const only = position(tokens)
  tokens.expect(')')
  return only
}

/** The points of a MULTIPOINT can have their own parentheses. */
function position(tokens: Tokens): number[] {
  const isWrapped = tokens.accept('(')
  const numbers = [tokens.number()]
  while (tokens.isNumber() && numbers.length < MAX_NUMBERS) numbers.push(tokens.number())
  if (isWrapped) tokens.expect(')')
  return numbers
}

/** As in CQL2-JSON, where it is validated and becomes a rectangle. */
const box = (tokens: Tokens): unknown => ({ bbox: listOf(tokens, () => tokens.number()) })
