import { meant } from '#core/nearest.ts'
import { RasterError } from '#raster/types.ts'

import { CATEGORICAL } from './categorical.ts'
import { DIVERGING } from './diverging.ts'
import { ELEVATION } from './elevation.ts'
import { PERCEPTUAL } from './perceptual.ts'
import { SEQUENTIAL } from './sequential.ts'
import type { ColormapSource } from './source.ts'
import { TABLES } from './tables.ts'

interface ColormapStop {
  /** From 0 to 1. */
  position: number
  /** `#rrggbb`. */
  color: string
}

interface Colormap {
  id: string
  name: string
  group: ColormapGroupName
  stops: readonly ColormapStop[]
}

const COLORMAP_GROUPS = ['perceptual', 'sequential', 'diverging', 'elevation', 'categorical'] as const
type ColormapGroupName = (typeof COLORMAP_GROUPS)[number]

interface ColormapGroup {
  name: ColormapGroupName
  colormaps: readonly Colormap[]
}

/** 256 colours, three bytes each. */
type ColorTable = Uint8Array

export const COLOR_COUNT = 256
const REVERSED_SUFFIX = '_r'
/** Step between the sampled stops: a divisor of 255, so that the first and the last colour are included. */
const STOP_DISTANCE = 15

const SOURCES: Record<ColormapGroupName, readonly ColormapSource[]> = {
  perceptual: PERCEPTUAL,
  sequential: SEQUENTIAL,
  diverging: DIVERGING,
  elevation: ELEVATION,
  categorical: CATEGORICAL,
}

const GROUPS: readonly ColormapGroup[] = COLORMAP_GROUPS.map((name) => ({
  name,
  colormaps: SOURCES[name].map((source) => ({ id: source.id, name: source.name, group: name, stops: stopsOf(source) })),
}))

const BY_ID: ReadonlyMap<string, Colormap> = new Map(GROUPS.flatMap((group) => group.colormaps.map((colormap) => [colormap.id, colormap])))

/** At most two tables per colormap, so this is bounded by twice the list. */
const tables = new Map<string, ColorTable>()

/** All colormaps by group. */
export function colormapGroups(): readonly ColormapGroup[] {
  return GROUPS
}

/** Finds a colormap, ignoring case and the suffix `_r`, which `colorTable` handles. */
export function findColormap(id: string): Colormap | null {
  const { base } = splitId(id)
  return BY_ID.get(base) ?? null
}

/** The error message for an unknown colormap. */
export const unknownColormap = (id: string): string =>
  `unknown colormap '${id.slice(0, 50)}'${meant(id, BY_ID.keys(), 'see cog.colormaps')}`

/** The 256 colours of a colormap, reversed if the ID ends with `_r`. The table is shared: do not write to it. */
export function colorTable(id: string): ColorTable {
  const { base, reversed } = splitId(id)
  const colormap = BY_ID.get(base)
  if (!colormap) throw new RasterError('invalid_argument', unknownColormap(id))
  const key = reversed ? base + REVERSED_SUFFIX : base
  let table = tables.get(key)
  if (!table) {
    table = publishedTable(base) ?? interpolate(colormap.stops)
    if (reversed) table = reverse(table)
    tables.set(key, table)
  }
  return table
}

function splitId(id: string): { base: string; reversed: boolean } {
  const lower = id.toLowerCase()
  if (BY_ID.has(lower) || !lower.endsWith(REVERSED_SUFFIX)) return { base: lower, reversed: false }
  return { base: lower.slice(0, -REVERSED_SUFFIX.length), reversed: true }
}

function stopsOf({ id, stops }: ColormapSource): ColormapStop[] {
  return stops === undefined ? summarize(TABLES[id]!) : readStops(stops)
}

function publishedTable(id: string): ColorTable | null {
  const hex = TABLES[id]
  return hex === undefined ? null : Uint8Array.from(Buffer.from(hex, 'hex'))
}

/** A sample of the table's colours, enough to draw it as a gradient. */
function summarize(hex: string): ColormapStop[] {
  return Array.from({ length: (COLOR_COUNT - 1) / STOP_DISTANCE + 1 }, (_, index) => {
    const entry = index * STOP_DISTANCE
    return { position: entry / (COLOR_COUNT - 1), color: `#${hex.slice(entry * 6, entry * 6 + 6)}` }
  })
}

function readStops(text: string): ColormapStop[] {
  const parts = text.split(' ')
  if (!parts[0]?.includes(':')) return parts.flatMap((hex, index) => heldColor(hex, index, parts.length))
  return parts.map((part) => {
    const [place = '', hex = ''] = part.split(':')
    return { position: Number(place) / (COLOR_COUNT - 1), color: `#${hex}` }
  })
}

/** A class has two stops of the same colour around its step, so that nothing is interpolated inside it. */
function heldColor(hex: string, index: number, count: number): ColormapStop[] {
  const first = Math.ceil((index * (COLOR_COUNT - 1)) / count)
  const last = index === count - 1 ? COLOR_COUNT - 1 : Math.ceil(((index + 1) * (COLOR_COUNT - 1)) / count) - 1
  return [first, last].map((place) => ({ position: place / (COLOR_COUNT - 1), color: `#${hex}` }))
}

/** Interpolates between stops, channel by channel. */
function interpolate(stops: readonly ColormapStop[]): ColorTable {
  const table = new Uint8Array(COLOR_COUNT * 3)
  let next = 1
  for (let i = 0; i < COLOR_COUNT; i++) {
    const position = i / (COLOR_COUNT - 1)
    while (next < stops.length - 1 && (stops[next]?.position ?? 1) < position) next += 1
    const a = stops[next - 1] ?? { position: 0, color: '#000000' }
    const b = stops[next] ?? a
    const span = b.position - a.position
    const share = span > 0 ? Math.min(1, Math.max(0, (position - a.position) / span)) : 0
    for (let channel = 0; channel < 3; channel++) {
      const from = channelOf(a.color, channel)
      table[i * 3 + channel] = Math.round(from + (channelOf(b.color, channel) - from) * share)
    }
  }
  return table
}

const channelOf = (color: string, channel: number): number => Number.parseInt(color.slice(1 + channel * 2, 3 + channel * 2), 16)

function reverse(table: ColorTable): ColorTable {
  const reversed = new Uint8Array(table.length)
  for (let i = 0; i < COLOR_COUNT; i++) reversed.set(table.subarray(i * 3, i * 3 + 3), (COLOR_COUNT - 1 - i) * 3)
  return reversed
}
