/** A picture of the map as GeoTIFF: three bands of eight bits in Web Mercator, compressed without loss. */

interface GeoPicture {
  width: number
  height: number
  /** Red, green, blue and alpha, row by row; alpha is left out. */
  pixels: Uint8ClampedArray
  /** West, south, east and north in metres of Web Mercator. */
  bounds: readonly [number, number, number, number]
}

const WEB_MERCATOR = 3857
const [SHORT, LONG, DOUBLE] = [3, 4, 12]
const SIZES: Readonly<Record<number, number>> = { [SHORT]: 2, [LONG]: 4, [DOUBLE]: 8 }
const HEADER_BYTES = 8

/** As TIFF writes them: a directory of the file's own keys, each with its value. */
const GEO_KEYS = [1, 1, 0, 3, /* model: projected */ 1024, 0, 1, 1, /* pixels are areas */ 1025, 0, 1, 1, 3072, 0, 1, WEB_MERCATOR]

type Entry = readonly [tag: number, type: number, values: readonly number[]]

export async function encodeGeoTiff(picture: GeoPicture): Promise<Blob> {
  const { width, height, pixels, bounds } = picture
  const [west, south, east, north] = bounds
  const bytes = await deflate(withoutAlpha(pixels, width * height))
  const entries = (stripAt: number): Entry[] => [
    [256, LONG, [width]],
    [257, LONG, [height]],
    [258, SHORT, [8, 8, 8]],
    [259, SHORT, [8]], // Deflate
    [262, SHORT, [2]], // RGB
    [273, LONG, [stripAt]],
    [277, SHORT, [3]],
    [278, LONG, [height]],
    [279, LONG, [bytes.byteLength]],
    [284, SHORT, [1]],
    [33550, DOUBLE, [(east - west) / width, (north - south) / height, 0]],
    [33922, DOUBLE, [0, 0, 0, west, north, 0]],
    [34735, SHORT, GEO_KEYS],
  ]
  const head = directory(entries(0)).byteLength
  return new Blob([directory(entries(head)), bytes], { type: 'image/tiff' })
}

function withoutAlpha(pixels: Uint8ClampedArray, count: number): Uint8Array<ArrayBuffer> {
  const rgb = new Uint8Array(count * 3)
  for (let pixel = 0; pixel < count; pixel++) for (let band = 0; band < 3; band++) rgb[pixel * 3 + band] = pixels[pixel * 4 + band]!
  return rgb
}

async function deflate(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  return await new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'))).arrayBuffer()
}

/** The header, the directory, and the values that do not fit into it. */
function directory(entries: readonly Entry[]): ArrayBuffer {
  const sizeOf = ([, type, values]: Entry) => SIZES[type]! * values.length
  const tableBytes = 2 + entries.length * 12 + 4
  const outside = entries.filter((entry) => sizeOf(entry) > 4).reduce((sum, entry) => sum + sizeOf(entry) + (sizeOf(entry) % 2), 0)
  const view = new DataView(new ArrayBuffer(HEADER_BYTES + tableBytes + outside))
  view.setUint16(0, 0x49_49)
  view.setUint16(2, 42, true)
  view.setUint32(4, HEADER_BYTES, true)
  view.setUint16(HEADER_BYTES, entries.length, true)
  let next = HEADER_BYTES + tableBytes
  for (const [index, entry] of entries.entries()) {
    const [tag, type, values] = entry
    const at = HEADER_BYTES + 2 + index * 12
    view.setUint16(at, tag, true)
    view.setUint16(at + 2, type, true)
    view.setUint32(at + 4, values.length, true)
    const isInside = sizeOf(entry) <= 4
    if (!isInside) view.setUint32(at + 8, next, true)
    for (const [position, value] of values.entries()) {
      const to = (isInside ? at + 8 : next) + position * SIZES[type]!
      if (type === SHORT) view.setUint16(to, value, true)
      else if (type === LONG) view.setUint32(to, value, true)
      else view.setFloat64(to, value, true)
    }
    if (!isInside) next += sizeOf(entry) + (sizeOf(entry) % 2)
  }
  return view.buffer as ArrayBuffer
}
