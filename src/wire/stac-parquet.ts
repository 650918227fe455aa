/** STAC GeoParquet: one row per item, with its properties as typed columns and its geometry as WKB. */
import type { SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { geojsonToWkb } from 'hyparquet-writer/src/wkb.js'
import { STAC_TABLE_OTHER_ASSETS as OTHER_ASSETS, STAC_TABLE_OTHER_PROPERTIES as OTHER_PROPERTIES } from '#core/stac.ts'
import { cellOf, fits, schemaOf, shapeOf, type Shape } from './parquet-shapes.ts'

type Json = Record<string, unknown>

export interface TableRow {
  id: string
  collection?: string
  stac_version: string
  stac_extensions: string[]
  geometry: Json | null
  bbox?: number[]
  properties: Json
  assets: Record<string, Json>
  links: Json[]
}

interface Column {
  name: string
  schema: SchemaElement[]
  value(row: TableRow): unknown
}

const RESERVED = new Set([
  'type',
  'stac_version',
  'stac_extensions',
  'id',
  'collection',
  'geometry',
  'bbox',
  'links',
  'assets',
  OTHER_PROPERTIES,
  OTHER_ASSETS,
])
const MAX_COLUMNS = 500

/**
 * The sample defines the columns. Values of later rows that do not fit go into two JSON columns, so that nothing is lost.
 */
export function openTable(
  sample: readonly TableRow[],
  hasMore = false,
): { rows(rows: readonly TableRow[]): Uint8Array; end(): Uint8Array } {
  const columns = columnsOf(sample, hasMore)
  const bytes = new ByteWriter()
  const writer = new ParquetWriter({
    writer: bytes,
    schema: [{ name: 'root', num_children: columns.length }, ...columns.flatMap(({ schema }) => schema)],
    kvMetadata: [
      { key: 'geo', value: JSON.stringify(geoMetadata()) },
      { key: 'stac-geoparquet', value: JSON.stringify({ version: '1.0.0' }) },
    ],
  })
  /** The bytes written since the last call; file offsets continue. */
  const drain = (): Uint8Array => {
    const written = bytes.getBytes().slice()
    bytes.index = 0
    return written
  }
  return {
    rows(rows) {
      void writer.write({ columnData: columns.map(({ name, value }) => ({ name, data: rows.map(value) })), rowGroupSize: rows.length })
      return drain()
    },
    end() {
      void writer.finish()
      return drain()
    },
  }
}

function geoMetadata() {
  const covering = Object.fromEntries(['xmin', 'ymin', 'xmax', 'ymax'].map((name) => [name, ['bbox', name]]))
  // Empty means any type: later pages can have types that the first one lacks.
  const column = { encoding: 'WKB', geometry_types: [], covering: { bbox: covering } }
  return { version: '1.1.0', primary_column: 'geometry', columns: { geometry: column } }
}

const TEXT: Shape = { kind: 'text' }
const NUMBER: Shape = { kind: 'number' }
const struct = (fields: Readonly<Record<string, Shape>>): Shape => ({ kind: 'struct', fields: new Map(Object.entries(fields)) })
const BOX = struct({ xmin: NUMBER, ymin: NUMBER, xmax: NUMBER, ymax: NUMBER })
const LINKS: Shape = { kind: 'list', element: struct({ href: TEXT, rel: TEXT, type: TEXT, title: TEXT }) }
/** A struct needs a member, so a table without assets has the one that most tables have, always null. */
const NO_ASSETS = new Map([['data', struct({ href: TEXT })]])

const column = (name: string, shape: Shape, value: (row: TableRow) => unknown): Column => ({
  name,
  schema: schemaOf(name, shape),
  value: (row) => cellOf(value(row), shape),
})

function columnsOf(sample: readonly TableRow[], hasMore: boolean): Column[] {
  const properties = propertyShapes(sample)
  const assets = assetShapes(sample)
  const fitsProperty = (name: string, value: unknown) => properties.has(name) && fits(value, properties.get(name)!, name)
  const fitsAsset = (key: string, asset: Json) => assets.has(key) && fits(asset, assets.get(key)!, key)
  const otherProperties = ({ properties: all }: TableRow) =>
    present(Object.entries(all).filter(([name, value]) => value !== null && !fitsProperty(name, value)))
  const otherAssets = ({ assets: all }: TableRow) => present(Object.entries(all).filter(([key, asset]) => !fitsAsset(key, asset)))
  const hasOthers = hasMore || sample.some((row) => otherProperties(row) || otherAssets(row))
  return [
    column('type', TEXT, () => 'Feature'),
    column('stac_version', TEXT, (row) => row.stac_version),
    column('stac_extensions', { kind: 'list', element: TEXT }, (row) => row.stac_extensions),
    column('id', TEXT, (row) => row.id),
    column('collection', TEXT, (row) => row.collection),
    {
      name: 'geometry',
      schema: [{ name: 'geometry', type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL' }],
      value: ({ geometry }) => (geometry ? geojsonToWkb(geometry as never) : null),
    },
    column('bbox', BOX, boxOf),
    column('links', LINKS, (row) => row.links),
    column('assets', { kind: 'struct', fields: assets }, ({ assets: all }) =>
      Object.fromEntries(Object.entries(all).filter(([key, asset]) => fitsAsset(key, asset))),
    ),
    ...[...properties].map(([name, shape]) =>
      column(name, shape, (row) => (fitsProperty(name, row.properties[name]) ? row.properties[name] : null)),
    ),
    ...(hasOthers
      ? [column(OTHER_PROPERTIES, { kind: 'json' }, otherProperties), column(OTHER_ASSETS, { kind: 'json' }, otherAssets)]
      : []),
  ]
}

const present = (entries: [string, unknown][]): Json | null => (entries.length === 0 ? null : Object.fromEntries(entries))

function boxOf({ bbox }: TableRow) {
  if (!bbox) return null
  const [xmin, ymin, xmax, ymax] = bbox
  return { xmin, ymin, xmax, ymax }
}

function propertyShapes(sample: readonly TableRow[]): Map<string, Shape> {
  const names = [...new Set(sample.flatMap(({ properties }) => Object.keys(properties)))].filter((name) => !RESERVED.has(name))
  return shapesOf(names, (name) => sample.map(({ properties }) => properties[name]))
}

/** Each asset key has its own struct, because assets of different keys have different fields. */
function assetShapes(sample: readonly TableRow[]): ReadonlyMap<string, Shape> {
  const keys = [...new Set(sample.flatMap(({ assets }) => Object.keys(assets)))]
  const shapes = shapesOf(keys, (key) => sample.map(({ assets }) => assets[key]))
  return shapes.size === 0 ? NO_ASSETS : shapes
}

function shapesOf(names: readonly string[], valuesOf: (name: string) => unknown[]): Map<string, Shape> {
  const shapes = new Map<string, Shape>()
  for (const name of names.slice(0, MAX_COLUMNS)) {
    const shape = shapeOf(name, valuesOf(name))
    if (shape) shapes.set(name, shape)
  }
  return shapes
}
