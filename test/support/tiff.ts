/** Plain striped GeoTIFFs, as many programs still write them: no tiles, no overviews. Also endless ones, made while they are read. */
import { deflateSync } from 'node:zlib'
import { buildTiff, DOUBLE, LONG, SHORT } from '#raster/testing/build-tiff.ts'

interface Striped {
  width?: number
  height?: number
  bandCount?: number
  west?: number
  north?: number
  degrees?: number
  /** Without it nobody knows where the image lies. */
  georeference?: boolean
  epsg?: number
  /** As TIFF writes a time: `2024:02:03 04:05:06`. */
  takenAt?: string
  rowsPerStrip?: number
  /** Each strip can then only be read from its beginning. */
  isDeflated?: boolean
  value?: (x: number, y: number, band: number) => number
}

const ASCII = 2

/** uint8, in strips, uncompressed by default. */
export function striped(options: Striped = {}): Uint8Array {
  const { width = 700, height = 600, bandCount = 1, rowsPerStrip = 50 } = options
  const value = options.value ?? ((x, y, band) => ((x + y + 40 * band) % 250) + 1)
  const strips = Array.from({ length: Math.ceil(height / rowsPerStrip) }, (_, index) => {
    const rows = Math.min(rowsPerStrip, height - index * rowsPerStrip)
    const strip = new Uint8Array(width * rows * bandCount)
    for (let y = 0; y < rows; y++)
      for (let x = 0; x < width; x++)
        for (let band = 0; band < bandCount; band++) strip[(y * width + x) * bandCount + band] = value(x, y + index * rowsPerStrip, band)
    return options.isDeflated ? new Uint8Array(deflateSync(strip)) : strip
  })
  return buildTiff({ ifds: [{ strips: true, blocks: strips, tags: tagsOf({ ...options, width, height, bandCount, rowsPerStrip }, 8) }] })
}

function tagsOf(
  {
    width,
    height,
    bandCount,
    rowsPerStrip,
    west = 151,
    north = -33,
    degrees = 0.0001,
    georeference = true,
    epsg = 4326,
    takenAt,
    isDeflated = false,
  }: Striped & { width: number; height: number; bandCount: number; rowsPerStrip: number },
  bits: number,
) {
  return [
    { tag: 256, type: LONG, values: [width] },
    { tag: 257, type: LONG, values: [height] },
    { tag: 258, type: SHORT, values: Array.from({ length: bandCount }, () => bits) },
    { tag: 259, type: SHORT, values: [isDeflated ? 8 : 1] },
    { tag: 262, type: SHORT, values: [bandCount >= 3 ? 2 : 1] },
    { tag: 277, type: SHORT, values: [bandCount] },
    { tag: 278, type: LONG, values: [rowsPerStrip] },
    { tag: 284, type: SHORT, values: [1] },
    ...(takenAt ? [{ tag: 306, type: ASCII, values: [...Buffer.from(`${takenAt}\0`)] }] : []),
    ...(bandCount > 3 ? [{ tag: 338, type: SHORT, values: Array.from({ length: bandCount - 3 }, () => 0) }] : []),
    ...(georeference
      ? [
          { tag: 33550, type: DOUBLE, values: [degrees, degrees, 0] },
          { tag: 33922, type: DOUBLE, values: [0, 0, 0, west, north, 0] },
          { tag: 34735, type: SHORT, values: [1, 1, 0, 3, 1024, 0, 1, 2, 1025, 0, 1, 1, 2048, 0, 1, epsg] },
        ]
      : []),
    { tag: 42113, type: ASCII, values: [...Buffer.from('0\0')] },
  ]
}

const ROWS_PER_STRIP = 4

/** uint16 in little-endian strips, made row by row while it is read: any size in little memory. Below 4 GB. */
export function stripedStream({ width, height, bandCount }: { width: number; height: number; bandCount: number }): {
  length: number
  chunks: AsyncIterable<Uint8Array>
} {
  const rowBytes = width * bandCount * 2
  const stripCount = Math.ceil(height / ROWS_PER_STRIP)
  const sizes = Array.from({ length: stripCount }, (_, index) => rowBytes * Math.min(ROWS_PER_STRIP, height - index * ROWS_PER_STRIP))
  const tags = [
    ...tagsOf({ width, height, bandCount, rowsPerStrip: ROWS_PER_STRIP, degrees: 1 / width }, 16),
    { tag: 273, type: LONG, values: sizes.map(() => 0) },
    { tag: 279, type: LONG, values: sizes },
  ].toSorted((a, b) => a.tag - b.tag)
  const empty = buildTiff({ ifds: [{ tags }] })
  let at = empty.length
  const offsets = sizes.map((size) => (at += size) - size)
  const head = buildTiff({ ifds: [{ tags: tags.map((tag) => (tag.tag === 273 ? { ...tag, values: offsets } : tag)) }] })
  async function* chunks(): AsyncIterable<Uint8Array> {
    yield head
    for (const [index, size] of sizes.entries()) yield strip(index * ROWS_PER_STRIP, size, width, bandCount)
  }
  return { length: at, chunks: chunks() }
}

/** Hills and noise, so that it compresses about as well as a picture of the ground. */
function strip(y: number, size: number, width: number, bandCount: number): Uint8Array {
  const samples = new Uint16Array(size / 2)
  let state = (y + 1) * 2_654_435_761
  for (let i = 0; i < samples.length; i++) {
    const pixel = Math.floor(i / bandCount)
    const row = y + Math.floor(pixel / width)
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    samples[i] = 1000 + 200 * (i % bandCount) + (((pixel % width) >> 5) & 255) + ((row >> 5) & 255) + (state >>> 27)
  }
  return new Uint8Array(samples.buffer)
}
