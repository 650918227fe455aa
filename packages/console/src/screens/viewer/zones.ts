/** Areas that are measured: kept in the address, drawn on the map, named by letters. */
import { decodeArea, encodeArea, type Box } from '../../map/geo.ts'
import type { Style } from '../../state/style.ts'

export const MAX_ZONES = 6
const SEPARATOR = ';'
const FIRST_LETTER = 'A'.charCodeAt(0)

export interface Zone {
  name: string
  /** A colour token. */
  colour: string
  shape: GeoJSON.Polygon
}

/** What is not an area is left out; at most six are read. */
export const parseZones = (text: string): Zone[] =>
  text
    .split(SEPARATOR)
    .slice(0, MAX_ZONES)
    .flatMap((part) => decodeArea(part) ?? [])
    .map((shape, index) => ({ name: String.fromCharCode(FIRST_LETTER + index), colour: `--c${index + 1}`, shape }))

export const formatZones = (shapes: readonly GeoJSON.Polygon[]): string => shapes.slice(0, MAX_ZONES).map(encodeArea).join(SEPARATOR)

/** A sixth of each side, in the centre; the next ones lie beside it. */
export function centreOf([west, south, east, north]: Box, index: number): Box {
  const shift = [0, 0.2, -0.2, 0.4, -0.4, 0.1][index] ?? 0
  const part = (low: number, high: number, share: number) => low + (high - low) * Math.max(0.02, Math.min(0.98, share))
  return [part(west, east, 0.42 + shift), part(south, north, 0.42), part(west, east, 0.58 + shift), part(south, north, 0.58)]
}

/** A time series shows one number: the expression of the style, or its first band. */
export const measureOf = ({ expression, bands }: Style): string => expression ?? `b${bands?.[0] ?? 1}`
