import type { LevelSizes } from '#raster/write/level.ts'
import { BLOCK_LEADER_BYTES, BLOCK_TRAILER_BYTES } from '#raster/write/tiles.ts'
import type { CogPlan } from '#raster/write/spec.ts'
import type { TagValue } from '#raster/write/tag-value.ts'
import { imageTags, maskTags, type BlockPlaces } from '#raster/write/tags.ts'

/**
 * The head of the file: header, GDAL's layout note, all directories. The blocks follow,
 * from the coarsest level to the finest, each mask block after its image block.
 */

const CLASSIC_LIMIT_BYTES = 0xffffffff

interface Container {
  readonly big: boolean
  readonly headerBytes: number
  readonly countBytes: number
  readonly entryBytes: number
  readonly pointerBytes: number
}

const CLASSIC: Container = { big: false, headerBytes: 8, countBytes: 2, entryBytes: 12, pointerBytes: 4 }
const BIG: Container = { big: true, headerBytes: 16, countBytes: 8, entryBytes: 20, pointerBytes: 8 }

/** With `leastBytes`, padding is added before the first block. */
export function buildHead(plan: CogPlan, levels: readonly LevelSizes[], leastBytes = 0): Uint8Array {
  if (!plan.spec.bigTiff) {
    const head = tryHead(plan, levels, CLASSIC, leastBytes)
    if (head) return head
  }
  const head = tryHead(plan, levels, BIG, leastBytes)
  if (!head) throw new RangeError('a BigTIFF is never too large')
  return head
}

/** Null if the file does not fit 32-bit offsets. */
function tryHead(plan: CogPlan, levels: readonly LevelSizes[], container: Container, leastBytes: number): Uint8Array | null {
  const ghost = ghostArea(plan.hasMask)
  const firstIfd = even(container.headerBytes + ghost.byteLength)
  // A first pass with empty offsets: the size of a directory does not depend on its values.
  const sizes = directories(plan, levels, null).map((tags) => ifdBytes(tags, container))
  const dataAt = Math.max(
    leastBytes,
    sizes.reduce((sum, size) => sum + size, firstIfd),
  )
  const places = placeBlocks(levels, dataAt)
  if (!container.big && places.end > CLASSIC_LIMIT_BYTES) return null

  const head = new Uint8Array(dataAt)
  writeHeader(head, container, firstIfd)
  head.set(ghost, container.headerBytes)
  let at = firstIfd
  const all = directories(plan, levels, places)
  all.forEach((tags, i) => {
    const next = at + (sizes[i] ?? 0)
    writeIfd(head, tags, { at, next: i + 1 < all.length ? next : 0, container })
    at = next
  })
  return head
}

interface Places {
  readonly images: readonly BlockPlaces[]
  readonly masks: readonly BlockPlaces[]
  readonly end: number
}

function placeBlocks(levels: readonly LevelSizes[], start: number): Places {
  const images: BlockPlaces[] = []
  const masks: BlockPlaces[] = []
  let at = start
  for (let level = levels.length - 1; level >= 0; level--) {
    const { tiles = [], masks: maskSizes = [] } = levels[level] ?? {}
    const imageOffsets: number[] = []
    const maskOffsets: number[] = []
    tiles.forEach((size, i) => {
      imageOffsets.push(at + BLOCK_LEADER_BYTES)
      at += BLOCK_LEADER_BYTES + size + BLOCK_TRAILER_BYTES
      const maskSize = maskSizes[i]
      if (maskSize === undefined) return
      maskOffsets.push(at + BLOCK_LEADER_BYTES)
      at += BLOCK_LEADER_BYTES + maskSize + BLOCK_TRAILER_BYTES
    })
    images[level] = { offsets: imageOffsets, sizes: tiles }
    masks[level] = { offsets: maskOffsets, sizes: maskSizes }
  }
  return { images, masks, end: at }
}

/** Image and mask of each level, from fine to coarse. */
function directories(plan: CogPlan, levels: readonly LevelSizes[], places: Places | null): TagValue[][] {
  return levels.flatMap((level, index) => {
    const image = places?.images[index] ?? { offsets: level.tiles, sizes: level.tiles }
    const mask = places?.masks[index] ?? { offsets: level.masks, sizes: level.masks }
    return plan.hasMask ? [imageTags(plan, index, image), maskTags(plan, index, mask)] : [imageTags(plan, index, image)]
  })
}

/** GDAL's readers recognize by this note that blocks are ordered and framed. */
function ghostArea(hasMask: boolean): Uint8Array {
  const lines =
    'LAYOUT=IFDS_BEFORE_DATA\nBLOCK_ORDER=ROW_MAJOR\nBLOCK_LEADER=SIZE_AS_UINT4\nBLOCK_TRAILER=LAST_4_BYTES_REPEATED\n' +
    // The space allows a writer to change NO to YES in place.
    `KNOWN_INCOMPATIBLE_EDITION=NO\n ${hasMask ? 'MASK_INTERLEAVED_WITH_IMAGERY=YES\n' : ''}`
  return Buffer.from(`GDAL_STRUCTURAL_METADATA_SIZE=${String(lines.length).padStart(6, '0')} bytes\n${lines}`, 'latin1')
}

function writeHeader(head: Uint8Array, { big }: Container, firstIfd: number): void {
  const view = new DataView(head.buffer)
  head.set(Buffer.from('II'))
  view.setUint16(2, big ? 43 : 42, true)
  if (!big) {
    view.setUint32(4, firstIfd, true)
    return
  }
  view.setUint16(4, 8, true)
  view.setBigUint64(8, BigInt(firstIfd), true)
}

interface FieldForm {
  readonly code: number
  readonly bytes: number
  readonly write: (view: DataView, at: number, value: number) => void
}

const SHORT: FieldForm = { code: 3, bytes: 2, write: (view, at, value) => view.setUint16(at, value, true) }
const LONG: FieldForm = { code: 4, bytes: 4, write: (view, at, value) => view.setUint32(at, value, true) }
const DOUBLE: FieldForm = { code: 12, bytes: 8, write: (view, at, value) => view.setFloat64(at, value, true) }
const LONG8: FieldForm = { code: 16, bytes: 8, write: (view, at, value) => view.setBigUint64(at, BigInt(value), true) }
const ASCII: FieldForm = { code: 2, bytes: 1, write: (view, at, value) => view.setUint8(at, value) }

function encodeField(tag: TagValue, { big }: Container): { form: FieldForm; values: ArrayLike<number> } {
  switch (tag.type) {
    case 'short':
      return { form: SHORT, values: tag.values }
    case 'long':
      return { form: LONG, values: tag.values }
    case 'double':
      return { form: DOUBLE, values: tag.values }
    case 'offset':
      return { form: big ? LONG8 : LONG, values: tag.values }
    case 'ascii':
      return { form: ASCII, values: Buffer.from(`${tag.text}\0`, 'utf8') }
  }
}

/** A directory with the values that do not fit into its entries, at an even length. */
function ifdBytes(tags: readonly TagValue[], container: Container): number {
  let bytes = container.countBytes + tags.length * container.entryBytes + container.pointerBytes
  for (const tag of tags) {
    const { form, values } = encodeField(tag, container)
    const size = form.bytes * values.length
    if (size > container.pointerBytes) bytes += even(size)
  }
  return even(bytes)
}

function writeIfd(head: Uint8Array, tags: readonly TagValue[], place: { at: number; next: number; container: Container }): void {
  const { at, next, container } = place
  const { big, countBytes, entryBytes, pointerBytes } = container
  const view = new DataView(head.buffer)
  const pointer = (where: number, value: number): void => (big ? LONG8 : LONG).write(view, where, value)
  ;(big ? LONG8 : SHORT).write(view, at, tags.length)
  let valuesAt = at + countBytes + tags.length * entryBytes + pointerBytes
  tags.forEach((tag, i) => {
    const entry = at + countBytes + i * entryBytes
    const { form, values } = encodeField(tag, container)
    const size = form.bytes * values.length
    view.setUint16(entry, tag.tag, true)
    view.setUint16(entry + 2, form.code, true)
    pointer(entry + 4, values.length)
    const inlineAt = entry + 4 + pointerBytes
    const target = size <= pointerBytes ? inlineAt : valuesAt
    for (let k = 0; k < values.length; k++) form.write(view, target + k * form.bytes, values[k] ?? 0)
    if (size > pointerBytes) {
      pointer(inlineAt, valuesAt)
      valuesAt += even(size)
    }
  })
  pointer(at + countBytes + tags.length * entryBytes, next)
}

function even(value: number): number {
  return value + (value % 2)
}
