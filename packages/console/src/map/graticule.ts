/** Lines of equal coordinates over a view, with the text of each: in degrees, or on the grid of a projection. */
import { dms, LATITUDE_SIDES, LONGITUDE_SIDES, type Notation, type Projection } from './crs.ts'
import type { Box, Position } from './geo.ts'

/** Lines across the view; fewer are hard to read off, more hide the imagery. */
const WANTED = 5
const PARTS = 24
const MAX_LINES = 40
/** In seconds: steps that people count in. */
const DMS_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 18_000, 36_000, 54_000, 108_000]

export interface GridLine {
  kind: 'x' | 'y'
  text: string
  /** In longitude and latitude. */
  path: Position[]
}

/** 1, 2 or 5 times a power of ten, so that about five fit. */
export function decimalStep(span: number): number {
  const rough = span / WANTED
  const power = 10 ** Math.floor(Math.log10(rough))
  return ([1, 2, 5].find((factor) => factor * power >= rough * 0.999) ?? 10) * power
}

const dmsStep = (span: number): number => (DMS_STEPS.find((step) => step >= (span * 3600) / WANTED) ?? DMS_STEPS.at(-1)!) / 3600

const decimalsOf = (step: number) => Math.max(0, -Math.floor(Math.log10(step) + 1e-9))

const multiples = (from: number, to: number, step: number): number[] => {
  const first = Math.ceil(from / step - 1e-9)
  const count = Math.min(MAX_LINES, Math.floor(to / step + 1e-9) - first + 1)
  return Array.from({ length: Math.max(0, count) }, (_, index) => (first + index) * step)
}

const between = (from: number, to: number): number[] =>
  Array.from({ length: PARTS + 1 }, (_, index) => from + ((to - from) * index) / PARTS)

/** `box` can reach beyond 180°. */
export function gridLines(box: Box, notation: Notation, projection: Projection | null): GridLine[] {
  return projection ? projectedLines(box, projection) : degreeLines(box, notation === 'dms')
}

function degreeLines([west, south, east, north]: Box, isDms: boolean): GridLine[] {
  const step = (isDms ? dmsStep : decimalStep)(Math.min(east - west, north - south))
  const text = (value: number, sides: readonly [string, string]) => {
    if (isDms) return dms(value, sides, 0)
    return `${Math.abs(value).toFixed(decimalsOf(step))}° ${value < 0 ? sides[1] : sides[0]}`
  }
  const turn = (x: number) => x - 360 * Math.round(x / 360)
  return [
    ...multiples(west, east, step).map((x): GridLine => ({
      kind: 'x',
      text: text(turn(x), LONGITUDE_SIDES),
      path: between(south, north).map((y) => [x, y]),
    })),
    ...multiples(south, north, step).map((y): GridLine => ({
      kind: 'y',
      text: text(y, LATITUDE_SIDES),
      path: between(west, east).map((x) => [x, y]),
    })),
  ]
}

function projectedLines([west, south, east, north]: Box, { forward, inverse }: Projection): GridLine[] {
  const edge = [
    ...between(west, east).flatMap((x): Position[] => [
      [x, south],
      [x, north],
    ]),
    ...between(south, north).flatMap((y): Position[] => [
      [west, y],
      [east, y],
    ]),
  ]
    .map(forward)
    .filter((place) => place.every(Number.isFinite))
  if (edge.length === 0) return []
  const [xs, ys] = [edge.map(([x]) => x), edge.map(([, y]) => y)]
  const [minX, maxX, minY, maxY] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)]
  const step = decimalStep(Math.min(maxX - minX, maxY - minY))
  const text = (value: number) => value.toFixed(decimalsOf(step))
  return [
    ...multiples(minX, maxX, step).map((x): GridLine => ({
      kind: 'x',
      text: `${text(x)} E`,
      path: between(minY, maxY).map((y) => inverse([x, y])),
    })),
    ...multiples(minY, maxY, step).map((y): GridLine => ({
      kind: 'y',
      text: `${text(y)} N`,
      path: between(minX, maxX).map((x) => inverse([x, y])),
    })),
  ]
}
