/**
 * A COG that is never written as a whole. Its blocks are stored without compression, so that their offsets are known
 * before their content; a byte range costs no more than the blocks in it.
 */
import { buildHead } from '#raster/write/layout.ts'
import { planCog, type CogPlan } from '#raster/write/spec.ts'
import { BLOCK_LEADER_BYTES, BLOCK_TRAILER_BYTES } from '#raster/write/tiles.ts'
import { cogSpecOf, type SceneDescription, type Window } from '../scenes/index.ts'

export interface CogBlock extends Window {
  /** How many times larger its pixels are than those of the scene. */
  readonly factor: number
}

export interface VirtualCog {
  readonly byteLength: number
  /** The bytes from `first` to `last`, inclusive; blocks are computed in order. */
  read(first: number, last: number, samples: (block: CogBlock) => Promise<Uint8Array>): AsyncGenerator<Uint8Array>
}

/** Small, because a map tile needs only a few pixels around it. */
const BLOCK_PX = 128
/** Readers fetch the start of a file in one request: it ends before the first block, so that opening a file computes no pixel. */
const HEAD_BYTES = 256 * 1024

export function virtualCog(scene: SceneDescription): VirtualCog {
  const plan = planCog({ ...cogSpecOf(scene), blockSize: BLOCK_PX, compression: 'deflate', predictor: 1 })
  const rawBytes = BLOCK_PX * BLOCK_PX * plan.bandCount * SAMPLE_BYTES[scene.dataType]
  const storedBytes = zlibStoredBytes(rawBytes)
  const frameBytes = BLOCK_LEADER_BYTES + storedBytes + BLOCK_TRAILER_BYTES
  const sizes = plan.levels.map(({ tilesX, tilesY }) => ({
    tiles: Array.from({ length: tilesX * tilesY }, () => storedBytes),
    masks: [],
  }))
  const head = buildHead(plan, sizes, HEAD_BYTES)
  const count = sizes.reduce((sum, { tiles }) => sum + tiles.length, 0)
  const byteLength = head.byteLength + count * frameBytes
  return {
    byteLength,
    async *read(first, last, samples) {
      let at = first
      if (at < head.byteLength) {
        const end = Math.min(head.byteLength, last + 1)
        yield head.subarray(at, end)
        at = end
      }
      // One block at a time, so that concurrent ranges take turns and none waits long.
      while (at <= last) {
        const index = Math.floor((at - head.byteLength) / frameBytes)
        const start = head.byteLength + index * frameBytes
        const end = Math.min(start + frameBytes, last + 1)
        yield framed(await samples(blockAt(plan, index)), storedBytes).subarray(at - start, end - start)
        at = end
      }
    },
  }
}

const SAMPLE_BYTES = { uint8: 1, uint16: 2, float32: 4 } as const

/** Blocks are ordered from the coarsest level to the finest. */
function blockAt({ levels, spec }: CogPlan, index: number): CogBlock {
  let rest = index
  for (let level = levels.length - 1; level >= 0; level--) {
    const { tilesX, tilesY, width } = levels[level]!
    if (rest < tilesX * tilesY)
      return {
        x: (rest % tilesX) * BLOCK_PX,
        y: Math.floor(rest / tilesX) * BLOCK_PX,
        width: BLOCK_PX,
        height: BLOCK_PX,
        factor: spec.width / width,
      }
    rest -= tilesX * tilesY
  }
  throw new RangeError(`No such block: ${index}`)
}

const ZLIB_HEAD_BYTES = 2
const ZLIB_CHECK_BYTES = 4
const STORED_HEAD_BYTES = 5
const STORED_MAX_BYTES = 65_535

const zlibStoredBytes = (bytes: number): number =>
  ZLIB_HEAD_BYTES + bytes + Math.ceil(bytes / STORED_MAX_BYTES) * STORED_HEAD_BYTES + ZLIB_CHECK_BYTES

/** The block as stored: its size, a zlib stream of stored blocks (RFC 1950 and 1951), and its last four bytes again. */
function framed(raw: Uint8Array, storedBytes: number): Uint8Array {
  const out = new Uint8Array(BLOCK_LEADER_BYTES + storedBytes + BLOCK_TRAILER_BYTES)
  const view = new DataView(out.buffer)
  view.setUint32(0, storedBytes, true)
  view.setUint16(BLOCK_LEADER_BYTES, 0x7801)
  let at = BLOCK_LEADER_BYTES + ZLIB_HEAD_BYTES
  for (let from = 0; from < raw.length; from += STORED_MAX_BYTES) {
    const piece = raw.subarray(from, from + STORED_MAX_BYTES)
    out[at] = from + piece.length === raw.length ? 1 : 0
    view.setUint16(at + 1, piece.length, true)
    view.setUint16(at + 3, ~piece.length & 0xffff, true)
    out.set(piece, at + STORED_HEAD_BYTES)
    at += STORED_HEAD_BYTES + piece.length
  }
  view.setUint32(at, adler32(raw))
  out.copyWithin(BLOCK_LEADER_BYTES + storedBytes, at, at + BLOCK_TRAILER_BYTES)
  return out
}

const ADLER_BASE = 65_521
/** Sums stay below 2^32 for this many bytes. */
const ADLER_RUN = 5_552

function adler32(bytes: Uint8Array): number {
  let a = 1
  let b = 0
  for (let from = 0; from < bytes.length; from += ADLER_RUN) {
    const end = Math.min(bytes.length, from + ADLER_RUN)
    for (let i = from; i < end; i++) {
      a += bytes[i]!
      b += a
    }
    a %= ADLER_BASE
    b %= ADLER_BASE
  }
  return b * 65_536 + a
}
