/** YCbCr outside JPEG: a block of pixels shares one pair of chroma samples and is stored as its luma samples and that pair. */
export interface YcbcrCoding {
  /** Subsampling along each side: 1, 2 or 4. */
  readonly across: number
  readonly down: number
  /** Coefficients of red, green and blue in luma. */
  readonly coefficients: readonly [number, number, number]
  /** Reference black and white: of luma, then of each chroma. */
  readonly reference: readonly number[]
}

interface YcbcrShape {
  readonly width: number
  readonly rows: number
}

export function ycbcrBytes({ across, down }: YcbcrCoding, { width, rows }: YcbcrShape): number {
  return Math.ceil(width / across) * Math.ceil(rows / down) * (across * down + 2)
}

/** Converts to RGB, pixel by pixel. */
export function ycbcrToRgb(clumps: Uint8Array, coding: YcbcrCoding, { width, rows }: YcbcrShape): Uint8Array {
  const { across, down } = coding
  const [red, green, blue] = coding.coefficients
  const [y0 = 0, y1 = 255, b0 = 128, b1 = 255, r0 = 128, r1 = 255] = coding.reference
  const out = new Uint8Array(width * rows * 3)
  const chroma = across * down
  let at = 0
  for (let top = 0; top < rows; top += down) {
    for (let left = 0; left < width; left += across, at += chroma + 2) {
      const cb = ((clumps[at + chroma]! - b0) * 127) / (b1 - b0)
      const cr = ((clumps[at + chroma + 1]! - r0) * 127) / (r1 - r0)
      for (let i = 0; i < chroma; i++) {
        const [x, y] = [left + (i % across), top + Math.floor(i / across)]
        if (x >= width || y >= rows) continue
        const luma = ((clumps[at + i]! - y0) * 255) / (y1 - y0)
        const r = luma + cr * (2 - 2 * red)
        const b = luma + cb * (2 - 2 * blue)
        const pixel = (y * width + x) * 3
        out[pixel] = held(r)
        out[pixel + 1] = held((luma - red * r - blue * b) / green)
        out[pixel + 2] = held(b)
      }
    }
  }
  return out
}

const held = (value: number): number => Math.max(0, Math.min(255, Math.round(value)))
