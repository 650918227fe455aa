import type { RawImage } from './raw-image.ts'

const BASE_HEIGHT = -10_000
const STEPS_PER_METRE = 10
const MAX_CODE = 0xff_ff_ff
const SEA_LEVEL_CODE = -BASE_HEIGHT * STEPS_PER_METRE

interface TerrainOptions {
  /** Negates heights first, for depths that are stored as positive numbers. */
  invert?: boolean
}

/**
 * Writes heights as Terrain-RGB: height = −10000 + (R·65536 + G·256 + B)·0.1. Where the mask is 0, the height is 0 and
 * alpha is 0, so that a mesh built without alpha stays at sea level instead of dropping to −10000.
 */
export function terrainPicture(
  heights: ArrayLike<number>,
  mask: Uint8Array,
  size: { width: number; height: number },
  options: TerrainOptions = {},
): RawImage {
  const sign = options.invert ? -1 : 1
  const data = new Uint8Array(size.width * size.height * 4)
  for (let i = 0, o = 0; o < data.length; i++, o += 4) {
    const isData = mask[i] !== 0
    const code = isData ? Math.round((sign * heights[i]! - BASE_HEIGHT) * STEPS_PER_METRE) : SEA_LEVEL_CODE
    const bounded = Math.min(MAX_CODE, Math.max(0, code))
    data[o] = bounded >> 16
    data[o + 1] = (bounded >> 8) & 255
    data[o + 2] = bounded & 255
    data[o + 3] = isData ? 255 : 0
  }
  return { ...size, channels: 4, data }
}
