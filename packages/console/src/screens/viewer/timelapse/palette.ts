/** At most 256 colours that stand for all colours of a picture. */

const MAX_COLOURS = 256
/** Colours are counted in a grid of 32 steps for each channel, which the eye can hardly tell apart in imagery. */
const BITS = 5
const DROPPED = 8 - BITS
const CELLS = 1 << (3 * BITS)
const MASK = (1 << BITS) - 1

interface Indexed {
  /** Red, green and blue of each colour. */
  palette: Uint8Array
  /** The colour of each pixel. */
  indices: Uint8Array
}

/** `pixels` has red, green, blue and alpha of each pixel; alpha is ignored. */
export function indexColours(pixels: Uint8ClampedArray): Indexed {
  return exactColours(pixels) ?? chosenColours(pixels)
}

/** A picture of few colours keeps them as they are; null if it has too many. */
function exactColours(pixels: Uint8ClampedArray): Indexed | null {
  const known = new Map<number, number>()
  const indices = new Uint8Array(pixels.length / 4)
  for (let at = 0; at < indices.length; at++) {
    const colour = (pixels[at * 4]! << 16) | (pixels[at * 4 + 1]! << 8) | pixels[at * 4 + 2]!
    let index = known.get(colour)
    if (index === undefined) {
      if (known.size === MAX_COLOURS) return null
      index = known.size
      known.set(colour, index)
    }
    indices[at] = index
  }
  return { palette: Uint8Array.from([...known.keys()].flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255])), indices }
}

const cellOf = (pixels: Uint8ClampedArray, at: number) =>
  ((pixels[at]! >> DROPPED) << (2 * BITS)) | ((pixels[at + 1]! >> DROPPED) << BITS) | (pixels[at + 2]! >> DROPPED)

/** Some cells of the grid, all within a box, which one colour will stand for. */
interface Box {
  cells: Uint16Array
  /** The channel that differs most: 0 for red, 1 for green, 2 for blue. */
  channel: number
  /** How much would be gained by dividing it. */
  weight: number
}

/** Median cut: the box whose colours differ most, in most pixels, is divided until there are enough. */
function chosenColours(pixels: Uint8ClampedArray): Indexed {
  const counts = new Uint32Array(CELLS)
  const sums = new Float64Array(CELLS * 3)
  for (let at = 0; at < pixels.length; at += 4) {
    const cell = cellOf(pixels, at)
    counts[cell]!++
    for (let channel = 0; channel < 3; channel++) sums[cell * 3 + channel]! += pixels[at + channel]!
  }
  const used = Uint16Array.from([...counts.keys()].filter((cell) => counts[cell]! > 0))
  const boxes = [boxOf(used, counts)]
  while (boxes.length < MAX_COLOURS) {
    const largest = boxes.reduce((best, box) => (box.weight > best.weight ? box : best))
    if (largest.weight === 0) break
    boxes.splice(boxes.indexOf(largest), 1, ...divided(largest, counts))
  }
  const palette = new Uint8Array(boxes.length * 3)
  const colourOfCell = new Uint8Array(CELLS)
  for (const [index, { cells }] of boxes.entries()) {
    let total = 0
    const sum = [0, 0, 0]
    for (const cell of cells) {
      colourOfCell[cell] = index
      total += counts[cell]!
      for (let channel = 0; channel < 3; channel++) sum[channel]! += sums[cell * 3 + channel]!
    }
    for (let channel = 0; channel < 3; channel++) palette[index * 3 + channel] = Math.round(sum[channel]! / total)
  }
  const indices = new Uint8Array(pixels.length / 4)
  for (let at = 0; at < indices.length; at++) indices[at] = colourOfCell[cellOf(pixels, at * 4)]!
  return { palette, indices }
}

const valueOf = (cell: number, channel: number) => (cell >> ((2 - channel) * BITS)) & MASK

function boxOf(cells: Uint16Array, counts: Uint32Array): Box {
  const low = [MASK, MASK, MASK]
  const high = [0, 0, 0]
  let total = 0
  for (const cell of cells) {
    total += counts[cell]!
    for (let channel = 0; channel < 3; channel++) {
      const value = valueOf(cell, channel)
      if (value < low[channel]!) low[channel] = value
      if (value > high[channel]!) high[channel] = value
    }
  }
  const spans = high.map((value, channel) => value - low[channel]!)
  const span = Math.max(...spans)
  // The square root, so that small bright things keep a colour beside large areas.
  return { cells, channel: spans.indexOf(span), weight: cells.length > 1 ? span * Math.sqrt(total) : 0 }
}

/** Two boxes with about as many pixels each. */
function divided({ cells, channel }: Box, counts: Uint32Array): [Box, Box] {
  const sorted = cells.toSorted((one, other) => valueOf(one, channel) - valueOf(other, channel))
  const total = sorted.reduce((sum, cell) => sum + counts[cell]!, 0)
  let [at, sum] = [0, 0]
  while (at < sorted.length - 1 && sum + counts[sorted[at]!]! <= total / 2) sum += counts[sorted[at++]!]!
  at = Math.max(1, at)
  return [boxOf(sorted.subarray(0, at), counts), boxOf(sorted.subarray(at), counts)]
}
