/** Files of one scene with one band each, as open imagery is published: COGs in UTM with 10, 20 or 60 m pixels. */
import { crsFromEpsg } from '#raster/crs/registry.ts'
import { EXACT_ARRAY } from '#raster/tiff/sample.ts'
import type { Affine, DataType, ExactSampleArray } from '#raster/types.ts'
import { writeCog } from '#raster/write/cog.ts'
import { memorySink } from '#raster/write/sink.ts'

export interface BandFile {
  width: number
  height: number
  /** In metres. */
  pixelM: number
  /** UTM zone 56 south (Sydney) by default. */
  epsg?: number
  left?: number
  top?: number
  dataType?: Exclude<DataType, 'float16'>
  bandCount?: number
  nodata?: number | null
  blockSize?: number
  hasMask?: boolean
  /** Sample at a pixel's centre, in metres from the upper left corner of the default extent. */
  value: (xM: number, yM: number, band: number) => number
  /** 0 where there is no data. */
  mask?: (x: number, y: number) => number
}

export const UTM_LEFT = 300_000
export const UTM_TOP = 6_260_000
const UTM_EPSG = 32_756

export async function bandFile(options: BandFile): Promise<Uint8Array> {
  const { width, height, pixelM, epsg = UTM_EPSG, left = UTM_LEFT, top = UTM_TOP, dataType = 'uint16', bandCount = 1 } = options
  const { nodata = null, blockSize = 256, mask, value } = options
  const transform: Affine = [left, pixelM, 0, top, 0, -pixelM]
  const bands = Array.from({ length: bandCount }, (_, band) => band)
  const sink = memorySink()
  await writeCog(
    sink,
    { width, height, dataType, bandCount, crs: crsFromEpsg(epsg), transform, nodata, blockSize, hasMask: mask !== undefined },
    async (y, rows) => {
      const samples = new EXACT_ARRAY[dataType](width * rows * bandCount) as Exclude<ExactSampleArray, BigInt64Array | BigUint64Array>
      for (let row = 0, i = 0; row < rows; row++)
        for (let x = 0; x < width; x++)
          for (const band of bands)
            samples[i++] = value(left - UTM_LEFT + (x + 0.5) * pixelM, UTM_TOP - top + (y + row + 0.5) * pixelM, band)
      return {
        width,
        height: rows,
        bands,
        data: bands.map(() => samples),
        starts: bands,
        stride: bandCount,
        mask: mask ? Uint8Array.from({ length: width * rows }, (_, i) => mask(i % width, y + Math.floor(i / width))) : null,
        byteLength: samples.byteLength,
      }
    },
  )
  return sink.bytes()
}

/** Reflectances times 10,000, which differ per band and vary with the place. */
export const reflectance =
  (level: number, phase = 0) =>
  (xM: number, yM: number): number =>
    Math.round(level + 0.4 * level * Math.sin(xM / 310 + phase) * Math.cos(yM / 270 - phase)) + 1
