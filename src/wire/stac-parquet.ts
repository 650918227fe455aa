/** STAC-GeoParquet: an item a row, its properties as columns of their own, its geometry as WKB. */
import type { SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { geojsonToWkb } from 'hyparquet-writer/src/wkb.js'
import { STAC_TABLE_REST } from '#core/stac.ts'

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

type Kind = 'text' | 'number' | 'boolean' | 'time' | 'json'

interface Column {
  name: string
  schema: SchemaElement[]
  value(row: TableRow): unknown
}

/** Properties that only later pages have; no reader of ours is surprised by them, and none of them is lost. */
const REST = STAC_TABLE_REST
const TIMES = new Set(['datetime', 'start_datetime', 'end_datetime', 'created', 'updated', 'published', 'expires'])
const RESERVED = new Set(['type', 'stac_version', 'stac_extensions', 'id', 'collection', 'geometry', 'bbox', 'links', 'assets', REST])
const MAX_COLUMNS = 500

export function openTable(sample: readonly TableRow[]): { rows(rows: readonly TableRow[]): Uint8Array; end(): Uint8Array } {
  const columns = columnsOf(sample)
  const bytes = new ByteWriter()
  const writer = new ParquetWriter({
    writer: bytes,
    schema: [{ name: 'root', num_children: columns.length }, ...columns.flatMap(({ schema }) => schema)],
    kvMetadata: [
      { key: 'geo', value: JSON.stringify(geoMetadata()) },
      { key: 'stac-geoparquet', value: JSON.stringify({ version: '1.0.0' }) },
    ],
  })
  /** What was written since the last time; offsets go on counting. */
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
  // Empty means any: later pages may bring types that the first one lacks.
  const column = { encoding: 'WKB', geometry_types: [], covering: { bbox: covering } }
  return { version: '1.1.0', primary_column: 'geometry', columns: { geometry: column } }
}

const text = (name: string): SchemaElement => ({
  name,
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  logical_type: { type: 'STRING' },
  repetition_type: 'OPTIONAL',
})
const json = (name: string): SchemaElement => ({
  name,
  type: 'BYTE_ARRAY',
  converted_type: 'JSON',
  logical_type: { type: 'JSON' },
  repetition_type: 'OPTIONAL',
})
const double = (name: string): SchemaElement => ({ name, type: 'DOUBLE', repetition_type: 'OPTIONAL' })
const group = (name: string, children: SchemaElement[][]): SchemaElement[] => [
  { name, num_children: children.length, repetition_type: 'OPTIONAL' },
  ...children.flat(),
]
const list = (name: string, element: SchemaElement[]): SchemaElement[] => [
  { name, num_children: 1, repetition_type: 'OPTIONAL', converted_type: 'LIST', logical_type: { type: 'LIST' } },
  { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
  ...element,
]

const SCALARS: Readonly<Record<Kind, (name: string) => SchemaElement>> = {
  text,
  number: double,
  boolean: (name) => ({ name, type: 'BOOLEAN', repetition_type: 'OPTIONAL' }),
  time: (name) => ({
    name,
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
    repetition_type: 'OPTIONAL',
  }),
  json,
}

function columnsOf(sample: readonly TableRow[]): Column[] {
  const kinds = kindsOf(sample.map(({ properties }) => properties))
  const properties = [...kinds].filter(([name]) => !RESERVED.has(name)).slice(0, MAX_COLUMNS)
  const known = new Set(properties.map(([name]) => name))
  const rest = ({ properties: all }: TableRow): Json | null => {
    const left = Object.entries(all).filter(([name, value]) => value !== null && !known.has(name))
    return left.length === 0 ? null : Object.fromEntries(left)
  }
  return [
    { name: 'type', schema: [text('type')], value: () => 'Feature' },
    { name: 'stac_version', schema: [text('stac_version')], value: (row) => row.stac_version },
    { name: 'stac_extensions', schema: list('stac_extensions', [text('element')]), value: (row) => row.stac_extensions },
    { name: 'id', schema: [text('id')], value: (row) => row.id },
    { name: 'collection', schema: [text('collection')], value: (row) => row.collection ?? null },
    {
      name: 'geometry',
      schema: [{ name: 'geometry', type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL' }],
      value: ({ geometry }) => (geometry ? geojsonToWkb(geometry as never) : null),
    },
    { name: 'bbox', schema: group('bbox', [[double('xmin')], [double('ymin')], [double('xmax')], [double('ymax')]]), value: boxOf },
    {
      name: 'links',
      schema: list(
        'links',
        group(
          'element',
          ['href', 'rel', 'type', 'title'].map((name) => [text(name)]),
        ),
      ),
      value: (row) => row.links,
    },
    assetsColumn(sample),
    ...properties.map(([name, kind]): Column => ({
      name,
      schema: [SCALARS[kind](name)],
      value: (row) => cell(row.properties[name], kind),
    })),
    { name: REST, schema: [json(REST)], value: rest },
  ]
}

function boxOf({ bbox }: TableRow) {
  if (!bbox) return null
  const [xmin, ymin, xmax, ymax] = bbox
  return { xmin, ymin, xmax, ymax }
}

/** A member that is of two types in the sample is JSON. */
function kindsOf(objects: readonly Json[]): Map<string, Kind> {
  const found = new Map<string, Kind>()
  for (const object of objects)
    for (const [name, value] of Object.entries(object)) {
      if (value === null || value === undefined) continue
      const kind = kindOf(name, value)
      const before = found.get(name)
      found.set(name, before === undefined || before === kind ? kind : 'json')
    }
  return found
}

function kindOf(name: string, value: unknown): Kind {
  if (TIMES.has(name) && typeof value === 'string') return 'time'
  if (typeof value === 'string') return 'text'
  return typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'json'
}

function cell(value: unknown, kind: Kind): unknown {
  if (value === null || value === undefined) return null
  if (kind === 'time') return new Date(String(value))
  const fits = kind === 'json' || (kind === 'text' ? typeof value === 'string' : typeof value === kind)
  if (fits) return value
  return kind === 'text' ? JSON.stringify(value) : null
}

/** A struct of the keys that the sample has, each a struct of what its assets say. */
function assetsColumn(sample: readonly TableRow[]): Column {
  const keys = [...new Set(sample.flatMap(({ assets }) => Object.keys(assets)))].slice(0, MAX_COLUMNS)
  const fields = new Map(keys.map((key) => [key, kindsOf(sample.flatMap(({ assets }) => (assets[key] ? [assets[key]] : [])))]))
  const member = (name: string, kind: Kind) => (name === 'roles' ? list('roles', [text('element')]) : [SCALARS[kind](name)])
  const children = keys.map((key) =>
    group(
      key,
      [...fields.get(key)!].map(([name, kind]) => member(name, kind)),
    ),
  )
  const asset = (key: string, given: Json | undefined) =>
    given
      ? Object.fromEntries([...fields.get(key)!].map(([name, kind]) => [name, name === 'roles' ? given['roles'] : cell(given[name], kind)]))
      : null
  if (keys.length === 0) return { name: 'assets', schema: [json('assets')], value: ({ assets }) => assets }
  return {
    name: 'assets',
    schema: group('assets', children),
    value: ({ assets }) => Object.fromEntries(keys.map((key) => [key, asset(key, assets[key])])),
  }
}
