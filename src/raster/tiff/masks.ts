import { isBigArray } from '#raster/tiff/sample.ts'
import type { ExactSampleArray, RasterInfo, SampleArray } from '#raster/types.ts'

interface DecodedPlanes {
  readonly planes: readonly ExactSampleArray[]
  /** Band of each plane; a chunky file has one plane for all. */
  readonly wanted: readonly number[]
  readonly stride: number
  readonly count: number
}

/** The mask of a block with an alpha band; null for other kinds, and if every pixel is opaque. */
export function blockMask(info: RasterInfo, { planes, wanted, stride, count }: DecodedPlanes): Uint8Array | null {
  if (info.maskKind !== 'alpha' || info.alphaBand === null) return null
  const isPlanar = info.interleave === 'band'
  const samples = planes[isPlanar ? wanted.indexOf(info.alphaBand) : 0]
  if (!samples) return null
  const start = isPlanar ? 0 : info.alphaBand
  const mask = new Uint8Array(count)
  let isOpaque = true
  for (let i = 0; i < count; i++) {
    const alpha = toByte(Number(samples[i * stride + start] ?? 0), info)
    mask[i] = alpha
    if (alpha !== 255) isOpaque = false
  }
  return isOpaque ? null : mask
}

/** 16-bit alpha becomes 8-bit as in GDAL: anything above zero stays visible. Other types are opaque unless zero. */
function toByte(alpha: number, info: RasterInfo): number {
  if (info.dataType === 'uint8' && info.bitsPerSample === 8) return alpha
  if (info.dataType === 'uint16' && info.bitsPerSample === 16) return alpha > 0 && alpha < 257 ? 1 : Math.floor((alpha * 255) / 65535)
  return alpha > 0 ? 255 : 0
}

/** 64-bit integers as doubles; everything else is a number already. */
export function toNumbers(samples: ExactSampleArray): SampleArray {
  if (!isBigArray(samples)) return samples
  const out = new Float64Array(samples.length)
  for (let i = 0; i < samples.length; i++) out[i] = Number(samples[i])
  return out
}
