/** Writes tiles as one PMTiles file (version 3): equal tiles once, directories of at most 16 KiB at its start. */
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { zxyToTileId } from 'pmtiles'

export interface Tile {
  z: number
  x: number
  y: number
  bytes: Buffer
}

interface Kind {
  /** As in the specification: 1 for vector tiles, 4 for WebP. */
  type: 1 | 4
  isCompressed: boolean
  metadata: object
}

interface Entry {
  id: number
  offset: number
  length: number
  run: number
}

const HEADER_BYTES = 127
const MAX_ROOT_BYTES = 16_384 - HEADER_BYTES
const LEAF_ENTRIES = 2_048
const NO_COMPRESSION = 1
const GZIP = 2

export function pmtilesOf(tiles: readonly Tile[], { type, isCompressed, metadata }: Kind): Buffer {
  const { entries, data } = stored(tiles)
  const { root, leaves } = directoriesOf(entries)
  const json = gzipSync(JSON.stringify(metadata), { level: 9 })
  const zooms = tiles.map(({ z }) => z)
  const header = Buffer.alloc(HEADER_BYTES)
  header.write('PMTiles')
  header.writeUInt8(3, 7)
  let at = HEADER_BYTES
  ;[root, json, leaves, data].forEach(({ length }, part) => {
    header.writeBigUInt64LE(BigInt(at), 8 + part * 16)
    header.writeBigUInt64LE(BigInt(length), 16 + part * 16)
    at += length
  })
  header.writeBigUInt64LE(BigInt(tiles.length), 72)
  header.writeBigUInt64LE(BigInt(entries.length), 80)
  header.writeBigUInt64LE(BigInt(new Set(entries.map(({ offset }) => offset)).size), 88)
  header.writeUInt8(0, 96) // Equal tiles are stored once, so that the data is not in the order of the tiles.
  header.writeUInt8(GZIP, 97)
  header.writeUInt8(isCompressed ? GZIP : NO_COMPRESSION, 98)
  header.writeUInt8(type, 99)
  header.writeUInt8(Math.min(...zooms), 100)
  header.writeUInt8(Math.max(...zooms), 101)
  ;[-180, -85, 180, 85].forEach((degrees, index) => header.writeInt32LE(degrees * 1e7, 102 + index * 4))
  header.writeUInt8(Math.min(...zooms), 118)
  return Buffer.concat([header, root, json, leaves, data])
}

function stored(tiles: readonly Tile[]): { entries: Entry[]; data: Buffer } {
  const known = new Map<string, { offset: number; length: number }>()
  const parts: Buffer[] = []
  const entries: Entry[] = []
  let size = 0
  const byId = tiles.map(({ z, x, y, bytes }) => ({ id: zxyToTileId(z, x, y), bytes })).toSorted((a, b) => a.id - b.id)
  for (const { id, bytes } of byId) {
    const hash = createHash('sha256').update(bytes).digest('base64')
    let place = known.get(hash)
    if (!place) {
      place = { offset: size, length: bytes.length }
      known.set(hash, place)
      parts.push(bytes)
      size += bytes.length
    }
    const last = entries.at(-1)
    if (last && last.offset === place.offset && last.id + last.run === id) last.run++
    else entries.push({ id, ...place, run: 1 })
  }
  return { entries, data: Buffer.concat(parts) }
}

function directoriesOf(entries: readonly Entry[]): { root: Buffer; leaves: Buffer } {
  const whole = directory(entries)
  if (whole.length <= MAX_ROOT_BYTES) return { root: whole, leaves: Buffer.alloc(0) }
  const leaves: Buffer[] = []
  const pointers: Entry[] = []
  let size = 0
  for (let first = 0; first < entries.length; first += LEAF_ENTRIES) {
    const leaf = directory(entries.slice(first, first + LEAF_ENTRIES))
    pointers.push({ id: entries[first]!.id, offset: size, length: leaf.length, run: 0 })
    leaves.push(leaf)
    size += leaf.length
  }
  return { root: directory(pointers), leaves: Buffer.concat(leaves) }
}

function directory(entries: readonly Entry[]): Buffer {
  const numbers = [
    entries.length,
    ...entries.map(({ id }, index) => id - (entries[index - 1]?.id ?? 0)),
    ...entries.map(({ run }) => run),
    ...entries.map(({ length }) => length),
    ...entries.map(({ offset }, index) => {
      const before = entries[index - 1]
      return before && before.offset + before.length === offset ? 0 : offset + 1
    }),
  ]
  return gzipSync(Buffer.from(numbers.flatMap(varint)), { level: 9 })
}

function varint(value: number): number[] {
  const bytes: number[] = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest]
    bytes.push((rest % 128) + 128)
  }
}
