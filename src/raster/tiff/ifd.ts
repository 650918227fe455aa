import { RasterError } from '#raster/errors.ts'
import { LIMITS } from '#raster/limits.ts'
import { FIELD_BYTES } from '#raster/tiff/tags.ts'
import type { Source } from '#raster/types.ts'

/**
 * The container: header, chain of directories, raw tag values. Written by us because files are
 * untrusted (docs/adr/0009-tiff-reader.md): every count, size and offset is
 * checked before it is used, and no directory is visited twice.
 */

export interface Entry {
  readonly tag: number
  readonly type: number
  readonly count: number
  readonly byteLength: number
  /** The value itself when it fits into the entry, else null. */
  readonly inline: Uint8Array | null
  /** Where the value is when it does not fit. */
  readonly offset: number
}

export interface Ifd {
  readonly offset: number
  readonly entries: ReadonlyMap<number, Entry>
}

export interface Container {
  readonly littleEndian: boolean
  readonly bigTiff: boolean
  readonly ifds: readonly Ifd[]
}

interface Layout {
  readonly littleEndian: boolean
  readonly bigTiff: boolean
  readonly firstIfd: number
}

const CLASSIC_HEADER_BYTES = 8
const BIG_HEADER_BYTES = 16
const CLASSIC_ENTRY_BYTES = 12
const BIG_ENTRY_BYTES = 20

export async function readContainer(source: Source, signal?: AbortSignal): Promise<Container> {
  const layout = await readHeader(source, signal)
  const ifds: Ifd[] = []
  const visited = new Set<number>()
  let offset = layout.firstIfd
  while (offset !== 0) {
    if (visited.has(offset)) throw new RasterError('corrupt', 'The directories of the TIFF form a cycle')
    if (ifds.length === LIMITS.ifdCount) throw new RasterError('limit_exceeded', `The TIFF has more than ${LIMITS.ifdCount} directories`)
    visited.add(offset)
    const { ifd, next } = await readIfd(source, layout, offset, signal)
    ifds.push(ifd)
    offset = next
  }
  if (ifds.length === 0) throw new RasterError('corrupt', 'The TIFF has no directory')
  return { littleEndian: layout.littleEndian, bigTiff: layout.bigTiff, ifds }
}

/** Sub-directories, where some writers keep the overviews. */
export async function readSubIfds(source: Source, container: Container, offsets: readonly number[], signal?: AbortSignal): Promise<Ifd[]> {
  const seen = new Set(container.ifds.map(({ offset }) => offset))
  const ifds: Ifd[] = []
  for (const offset of offsets) {
    if (offset === 0 || seen.has(offset)) continue
    if (container.ifds.length + ifds.length === LIMITS.ifdCount)
      throw new RasterError('limit_exceeded', `The TIFF has more than ${LIMITS.ifdCount} directories`)
    seen.add(offset)
    ifds.push((await readIfd(source, { ...container, firstIfd: offset }, offset, signal)).ifd)
  }
  return ifds
}

async function readHeader(source: Source, signal?: AbortSignal): Promise<Layout> {
  if (source.size < CLASSIC_HEADER_BYTES) throw notATiff()
  const bytes = await source.fetch(0, Math.min(BIG_HEADER_BYTES, source.size), signal)
  const order = String.fromCharCode(bytes[0] ?? 0, bytes[1] ?? 0)
  if (order !== 'II' && order !== 'MM') throw notATiff()
  const littleEndian = order === 'II'
  const view = viewOf(bytes)
  const magic = view.getUint16(2, littleEndian)
  if (magic === 42) return { littleEndian, bigTiff: false, firstIfd: view.getUint32(4, littleEndian) }
  if (magic !== 43 || bytes.byteLength < BIG_HEADER_BYTES) throw notATiff()
  if (view.getUint16(4, littleEndian) !== 8 || view.getUint16(6, littleEndian) !== 0) throw notATiff()
  return { littleEndian, bigTiff: true, firstIfd: safeUint64(view, 8, littleEndian) }
}

async function readIfd(source: Source, layout: Layout, offset: number, signal?: AbortSignal): Promise<{ ifd: Ifd; next: number }> {
  const { littleEndian, bigTiff } = layout
  const countBytes = bigTiff ? 8 : 2
  const entryBytes = bigTiff ? BIG_ENTRY_BYTES : CLASSIC_ENTRY_BYTES
  const pointerBytes = bigTiff ? 8 : 4
  const countView = viewOf(await source.fetch(offset, countBytes, signal))
  const count = bigTiff ? safeUint64(countView, 0, littleEndian) : countView.getUint16(0, littleEndian)
  if (count === 0) throw new RasterError('corrupt', 'A directory of the TIFF is empty')
  if (count > LIMITS.ifdEntryCount) throw new RasterError('limit_exceeded', `A directory of the TIFF has ${count} entries`)

  const view = viewOf(await source.fetch(offset + countBytes, count * entryBytes + pointerBytes, signal))
  const entries = new Map<number, Entry>()
  for (let i = 0; i < count; i++) {
    const entry = readEntry(view, i * entryBytes, layout)
    // As in libtiff, the first of two entries with the same tag is used.
    if (entry && !entries.has(entry.tag)) entries.set(entry.tag, entry)
  }
  const end = count * entryBytes
  const next = bigTiff ? safeUint64(view, end, littleEndian) : view.getUint32(end, littleEndian)
  return { ifd: { offset, entries }, next }
}

/** Null for an unknown field type, which the specification says to skip. */
function readEntry(view: DataView, at: number, { littleEndian, bigTiff }: Layout): Entry | null {
  const tag = view.getUint16(at, littleEndian)
  const type = view.getUint16(at + 2, littleEndian)
  const size = FIELD_BYTES[type]
  if (size === undefined) return null
  const count = bigTiff ? safeUint64(view, at + 4, littleEndian) : view.getUint32(at + 4, littleEndian)
  const valueAt = at + (bigTiff ? 12 : 8)
  const inlineBytes = bigTiff ? 8 : 4
  const byteLength = count * size
  if (byteLength <= inlineBytes) {
    const inline = new Uint8Array(view.buffer, view.byteOffset + valueAt, byteLength)
    return { tag, type, count, byteLength, inline, offset: 0 }
  }
  const offset = bigTiff ? safeUint64(view, valueAt, littleEndian) : view.getUint32(valueAt, littleEndian)
  return { tag, type, count, byteLength, inline: null, offset }
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** A 64-bit value that JavaScript can hold; a file offset beyond 2^53 cannot be real. */
export function safeUint64(view: DataView, at: number, littleEndian: boolean): number {
  const value = Number(view.getBigUint64(at, littleEndian))
  if (!Number.isSafeInteger(value)) throw new RasterError('corrupt', 'The TIFF has an offset or count above 2^53')
  return value
}

function notATiff(): RasterError {
  return new RasterError('not_a_tiff', 'The file is not a TIFF')
}
