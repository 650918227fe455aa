/** The bands that a request uses: only their files are opened. */
import { parseExpression } from '#raster/expression/index.ts'
import type { Style } from '#raster/render/style.ts'

interface BandRequest {
  /** 1-based. */
  readonly bands?: readonly number[] | undefined
  readonly expression?: string | undefined
  readonly names?: Readonly<Record<string, number>> | undefined
}

/** 1-based and ascending; null if the request can use every band. */
export function usedBands(bandCount: number, { bands, expression, names }: BandRequest): readonly number[] | null {
  if (expression !== undefined) {
    const parsed = parseExpression(expression, { bandCount, ...(names ? { names } : {}) })
    // An expression without bands still needs pixels.
    return parsed.bands.length > 0 ? parsed.bands : [1]
  }
  if (!bands) return null
  return [...new Set(bands)].toSorted((a, b) => a - b)
}

export function bandsOfStyle(bandCount: number, style: Style): readonly number[] | null {
  switch (style.kind) {
    case 'rgb':
      return usedBands(bandCount, { bands: style.bands })
    case 'single':
      return [style.band]
    case 'expression':
      return usedBands(bandCount, style)
    case 'palette':
      return [1]
  }
}
