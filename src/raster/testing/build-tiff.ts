/** Builds small TIFFs for tests, also ones that no sane writer would make. */

interface TestTag {
  readonly tag: number
  /** TIFF field type number. */
  readonly type: number
  readonly values: readonly number[]
  /** A count to claim instead of the true one. */
  readonly claimedCount?: number
}

interface TestIfd {
  readonly tags: readonly TestTag[]
  /** Stored blocks; their offsets and sizes become tags 324 and 325, or 273 and 279 for strips. */
  readonly blocks?: readonly Uint8Array[]
  readonly strips?: boolean
  /** Index of the directory to point at instead of the next one. */
  readonly next?: number
}

export interface TestTiff {
  readonly ifds: readonly TestIfd[]
  readonly littleEndian?: boolean
  readonly big?: boolean
}

const SIZES: Readonly<Record<number, number>> = { 1: 1, 2: 1, 3: 2, 4: 4, 7: 1, 12: 8, 16: 8 }
export const SHORT = 3
export const LONG = 4
export const DOUBLE = 12
const LONG8 = 16

export function buildTiff({ ifds, littleEndian = true, big = false }: TestTiff): Uint8Array {
  const headerBytes = big ? 16 : 8
  const pointerBytes = big ? 8 : 4
  const entryBytes = big ? 20 : 12
  const countBytes = big ? 8 : 2
  let at = headerBytes
  const plans = ifds.map((ifd) => {
    const blockPlaces = (ifd.blocks ?? []).map((block) => {
      const offset = at
      at += block.length + (block.length % 2)
      return { offset, block }
    })
    return { ifd, blockPlaces, tags: withBlockTags(ifd, blockPlaces, big) }
  })
  const placed = plans.map((plan) => {
    const ifdAt = at
    at += countBytes + plan.tags.length * entryBytes + pointerBytes
    const values = plan.tags.map((tag) => {
      const bytes = tag.values.length * (SIZES[tag.type] ?? 1)
      if (bytes <= pointerBytes) return null
      const valueAt = at
      at += bytes + (bytes % 2)
      return valueAt
    })
    return { ...plan, ifdAt, values }
  })
  const out = new Uint8Array(at)
  const view = new DataView(out.buffer)
  const put = (where: number, type: number, value: number): void => putValue(view, where, { type, value, littleEndian })
  const pointer = big ? LONG8 : LONG
  out.set(Buffer.from(littleEndian ? 'II' : 'MM'))
  put(2, SHORT, big ? 43 : 42)
  if (big) put(4, SHORT, 8)
  put(big ? 8 : 4, pointer, placed[0]?.ifdAt ?? 0)
  placed.forEach((plan, i) => {
    for (const { offset, block } of plan.blockPlaces) out.set(block, offset)
    put(plan.ifdAt, big ? LONG8 : SHORT, plan.tags.length)
    plan.tags.forEach((tag, k) => {
      const entry = plan.ifdAt + countBytes + k * entryBytes
      put(entry, SHORT, tag.tag)
      put(entry + 2, SHORT, tag.type)
      put(entry + 4, pointer, tag.claimedCount ?? tag.values.length)
      const valueAt = plan.values[k] ?? entry + 4 + pointerBytes
      if (plan.values[k] != null) put(entry + 4 + pointerBytes, pointer, valueAt)
      tag.values.forEach((value, n) => put(valueAt + n * (SIZES[tag.type] ?? 1), tag.type, value))
    })
    const next = plan.ifd.next ?? i + 1
    put(plan.ifdAt + countBytes + plan.tags.length * entryBytes, pointer, placed[next]?.ifdAt ?? 0)
  })
  return out
}

function withBlockTags(ifd: TestIfd, places: readonly { offset: number; block: Uint8Array }[], big: boolean): TestTag[] {
  const own = new Set(ifd.tags.map((tag) => tag.tag))
  const type = big ? LONG8 : LONG
  const tags: TestTag[] = [
    { tag: ifd.strips ? 273 : 324, type, values: places.map((place) => place.offset) },
    { tag: ifd.strips ? 279 : 325, type, values: places.map((place) => place.block.length) },
  ]
  return [...ifd.tags, ...(places.length > 0 ? tags.filter((tag) => !own.has(tag.tag)) : [])].toSorted((a, b) => a.tag - b.tag)
}

function putValue(view: DataView, at: number, field: { type: number; value: number; littleEndian: boolean }): void {
  const { type, value, littleEndian } = field
  if (type === SHORT) view.setUint16(at, value, littleEndian)
  else if (type === LONG) view.setUint32(at, value, littleEndian)
  else if (type === DOUBLE) view.setFloat64(at, value, littleEndian)
  else if (type === LONG8) view.setBigUint64(at, BigInt(value), littleEndian)
  else view.setUint8(at, value)
}

/** The tags of a plain image of one 8-bit band; `changes` replaces or adds tags, null removes one. */
export function plainTags(width: number, height: number, changes: Readonly<Record<number, readonly number[] | null>> = {}): TestTag[] {
  const tags: Record<number, readonly number[] | null> = {
    256: [width],
    257: [height],
    258: [8],
    259: [1],
    262: [1],
    277: [1],
    284: [1],
    322: [16],
    323: [16],
    339: [1],
    ...changes,
  }
  return Object.entries(tags).flatMap(([tag, values]) => (values ? [{ tag: Number(tag), type: LONG, values }] : []))
}
