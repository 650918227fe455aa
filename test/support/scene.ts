/** Small COGs for tests, made with our own writer: a picture with a gradient in each band, so that every pixel is known. */
import { crsFromEpsg } from '#raster/crs/registry.ts'
import { writeCog } from '#raster/write/cog.ts'
import { memorySink } from '#raster/write/sink.ts'
import type { CogSpec } from '#raster/write/spec.ts'
import type { SampleArray } from '#raster/types.ts'

export interface Scene {
  width?: number
  height?: number
  dataType?: 'uint8' | 'uint16' | 'float32'
  bandNames?: readonly string[]
  nodata?: number | null
  /** West, north and degrees a pixel. */
  west?: number
  north?: number
  degrees?: number
  value?: (band: number, x: number, y: number) => number
}

const ARRAYS = { uint8: Uint8Array, uint16: Uint16Array, float32: Float32Array }

export async function scene(options: Scene = {}): Promise<Uint8Array> {
  const {
    width = 300,
    height = 200,
    dataType = 'uint16',
    bandNames = ['blue', 'green', 'red', 'nir'],
    nodata = null,
    west = 151,
    north = -33,
    degrees = 0.001,
  } = options
  const value = options.value ?? ((band, x, y) => 100 * (band + 1) + x + y)
  const bandCount = bandNames.length
  const spec: CogSpec = {
    width,
    height,
    dataType,
    bandCount,
    nodata,
    crs: crsFromEpsg(4326),
    transform: [west, degrees, 0, north, 0, -degrees],
    bands: bandNames.map((name) => ({ name })),
    blockSize: 128,
  }
  const sink = memorySink()
  await writeCog(sink, spec, async (y, rows) => {
    const data: SampleArray = new ARRAYS[dataType](width * rows * bandCount)
    for (let row = 0; row < rows; row++)
      for (let x = 0; x < width; x++)
        for (let band = 0; band < bandCount; band++) data[(row * width + x) * bandCount + band] = value(band, x, y + row)
    const bands = bandNames.map((_, band) => band)
    return {
      width,
      height: rows,
      bands,
      data: bands.map(() => data),
      starts: bands,
      stride: bandCount,
      mask: null,
      byteLength: data.byteLength,
    }
  })
  return sink.bytes()
}

/** The Web Mercator tile over a place. */
export function tileAt(longitude: number, latitude: number, z: number): { z: number; x: number; y: number } {
  const count = 2 ** z
  const sin = Math.sin((latitude * Math.PI) / 180)
  return {
    z,
    x: Math.floor(((longitude + 180) / 360) * count),
    y: Math.floor((0.5 - Math.log((1 + sin) / (1 - sin)) / (4 * Math.PI)) * count),
  }
}
