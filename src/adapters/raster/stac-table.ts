/**
 * Third-party STAC-GeoParquet, as JSON lines of STAC items. A table can claim any size and expand to any size, so a child process
 * with its own limits reads it, like every other untrusted file.
 */
import zlib from 'node:zlib'
import { parquetMetadataAsync, parquetReadObjects, type AsyncBuffer, type Compressors, type FileMetaData } from 'hyparquet'
import { STAC_TABLE_OTHER_ASSETS, STAC_TABLE_OTHER_PROPERTIES } from '#core/stac.ts'
import { RasterError } from '#raster/errors.ts'

type Json = Record<string, unknown>

const MAX_UNPACKED_BYTES = 128 * 1024 * 1024
const MAX_TEXT_LENGTH = 64 * 1024 * 1024
/** Rows read at once; a table with one row group is never in memory as a whole. */
const ROWS_OF_A_PART = 1_000

const MEMBERS = ['type', 'stac_version', 'stac_extensions', 'id', 'collection', 'geometry', 'links'] as const
const IN_MEMBERS: ReadonlySet<string> = new Set([...MEMBERS, 'bbox', 'assets', STAC_TABLE_OTHER_PROPERTIES, STAC_TABLE_OTHER_ASSETS])

const unpacked =
  (unpack: (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array) =>
  (bytes: Uint8Array, length: number): Uint8Array =>
    unpack(bytes, { maxOutputLength: Math.max(1, Math.min(length, MAX_UNPACKED_BYTES)) })

/** The reader itself supports Snappy. */
const COMPRESSORS: Compressors = {
  GZIP: unpacked(zlib.gunzipSync),
  ZSTD: unpacked(zlib.zstdDecompressSync),
  BROTLI: unpacked(zlib.brotliDecompressSync),
}

const isoOf = (ms: number): string => new Date(ms).toISOString()

const PARSERS = {
  timestampFromMilliseconds: (ms: bigint) => isoOf(Number(ms)),
  timestampFromMicroseconds: (us: bigint) => isoOf(Number(us / 1_000n)),
  timestampFromNanoseconds: (ns: bigint) => isoOf(Number(ns / 1_000_000n)),
  dateFromDays: (days: number) => isoOf(days * 86_400_000),
}

export async function stacLines(bytes: Uint8Array, maxRows: number, signal: AbortSignal): Promise<string[]> {
  const file: AsyncBuffer = {
    byteLength: bytes.byteLength,
    // A copy, because the reader starts at the beginning of the buffer.
    slice: (start, end) => new Uint8Array(bytes.subarray(start, end)).buffer,
  }
  try {
    const metadata = await parquetMetadataAsync(file)
    const rows = requireBounded(metadata, maxRows)
    const lines: string[] = []
    let length = 0
    for (let rowStart = 0; rowStart < rows; rowStart += ROWS_OF_A_PART) {
      signal.throwIfAborted()
      const rowEnd = Math.min(rows, rowStart + ROWS_OF_A_PART)
      for (const row of await parquetReadObjects({ file, metadata, rowStart, rowEnd, compressors: COMPRESSORS, parsers: PARSERS })) {
        const line = JSON.stringify(featureOf(row))
        length += line.length
        if (length > MAX_TEXT_LENGTH) throw new RasterError('too_large', 'The table is too large for one import; split it')
        lines.push(line)
      }
    }
    return lines
  } catch (error) {
    if (error instanceof RasterError || signal.aborted) throw error
    throw new RasterError('corrupt', `Cannot read the table: ${error instanceof Error ? error.message : 'unknown error'}`)
  }
}

function requireBounded(metadata: FileMetaData, maxRows: number): number {
  const rows = Number(metadata.num_rows)
  if (!(rows >= 0 && rows <= maxRows))
    throw new RasterError('too_large', `The table has ${rows} rows; the maximum per import is ${maxRows}. Split it`)
  const names = new Set(metadata.schema.map(({ name }) => name))
  for (const name of ['id', 'geometry'])
    if (!names.has(name)) throw new RasterError('unsupported', `The table has no column '${name}', so it is not STAC-GeoParquet`)
  const sizes = metadata.row_groups.flatMap(({ columns }) =>
    columns.map(({ meta_data: about }) => Number(about?.total_uncompressed_size ?? 0)),
  )
  const size = sizes.reduce((sum, each) => sum + each, 0)
  if (!(size <= MAX_UNPACKED_BYTES))
    throw new RasterError('too_large', `The table expands to ${size} bytes; the maximum is ${MAX_UNPACKED_BYTES}. Split it`)
  return rows
}

/** Columns that are not members of an item are its properties; a missing value is null in the table and absent in the item. */
function featureOf(row: Json): Json {
  const properties: Json = {}
  for (const [name, value] of Object.entries(row)) if (!IN_MEMBERS.has(name)) properties[name] = plain(value)
  Object.assign(properties, present(jsonOf(plain(row[STAC_TABLE_OTHER_PROPERTIES]))))
  return {
    ...present(Object.fromEntries(MEMBERS.map((name) => [name, plain(row[name])]))),
    type: 'Feature',
    geometry: plain(row['geometry']) ?? null,
    ...present({ bbox: boxOf(plain(row['bbox'])) }),
    properties: present(properties),
    assets: { ...present(jsonOf(plain(row['assets']))), ...present(jsonOf(plain(row[STAC_TABLE_OTHER_ASSETS]))) },
  }
}

function boxOf(value: unknown): unknown {
  if (value === null || value === undefined || Array.isArray(value)) return value
  const { xmin, ymin, zmin, xmax, ymax, zmax } = value as Record<string, number | null>
  return zmin == null || zmax == null ? [xmin, ymin, xmax, ymax] : [xmin, ymin, zmin, xmax, ymax, zmax]
}

/** Our older tables store an object as text. */
function jsonOf(value: unknown): unknown {
  return typeof value === 'string' ? (JSON.parse(value) as unknown) : (value ?? {})
}

const present = (object: unknown): Json =>
  Object.fromEntries(Object.entries(object as Json).filter(([, value]) => value !== null && value !== undefined))

/** Removes what JSON cannot express (large integers, typed arrays, bytes) and the nulls that fill a struct. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (value === null || typeof value !== 'object') return value
  if (value instanceof Uint8Array) return null
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as Iterable<unknown>, plain)
  if (Array.isArray(value)) return value.map(plain)
  return present(Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)])))
}
