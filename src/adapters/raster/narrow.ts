/** Limits a stack to the bands that a request uses, so that only their files are opened. */
import type { ProcessRequest, RasterSource } from '#ports/raster.ts'
import type { Style } from '#raster/render/style.ts'
import { bandsOfStyle, usedBands } from '#raster/stack/used.ts'

interface BandRequest {
  readonly bands?: readonly number[]
  readonly expression?: string
  readonly names?: Readonly<Record<string, number>>
}

export function narrowed(source: RasterSource, request: BandRequest): RasterSource {
  if (!('stack' in source) || source.used) return source
  const used = usedBands(source.stack.length, request)
  return used ? { ...source, used } : source
}

export function narrowedByStyle(source: RasterSource, style: Style | undefined): RasterSource {
  if (!('stack' in source) || source.used || !style) return source
  const used = bandsOfStyle(source.stack.length, style)
  return used ? { ...source, used } : source
}

/** The bands that a processing method uses of one of its rasters; null for all of them. */
export function narrowedForProcess(
  source: RasterSource,
  index: number,
  { method, options }: Pick<ProcessRequest, 'method' | 'options'>,
): RasterSource {
  if (!('stack' in source) || source.used) return source
  const { bands, band, expression, expressions, names } = options as MethodOptions
  switch (method) {
    case 'expression':
    case 'zonal':
      return narrowed(source, {
        ...(bands ? { bands: numbersOf(bands) } : {}),
        ...(expression ? { expression } : {}),
        ...(names ? { names } : {}),
      })
    case 'change':
      return narrowed(source, expressions?.[index] === undefined ? {} : { expression: expressions[index] })
    case 'pansharpen':
      return index === PAN ? narrowed(source, { bands: [1] }) : bands ? narrowed(source, { bands: numbersOf(bands) }) : source
    case 'mosaic': {
      const scored = expression === undefined ? [] : usedBands(source.stack.length, { expression })!
      return bands ? narrowed(source, { bands: [...numbersOf(bands), ...scored] }) : source
    }
    default:
      if (bands) return narrowed(source, { bands: numbersOf(bands) })
      return ONE_BAND.has(method) ? narrowed(source, { bands: [band ?? 1] }) : source
  }
}

/** Position of the panchromatic raster among those of `pansharpen`. */
const PAN = 0

const ONE_BAND: ReadonlySet<string> = new Set(['contour', 'polygonize', 'terrain'])

/** The options of methods that name bands. */
interface MethodOptions {
  readonly bands?: readonly number[] | Readonly<Record<string, number>>
  readonly band?: number
  readonly expression?: string
  readonly expressions?: readonly string[]
  readonly names?: Readonly<Record<string, number>>
}

/** A list, or bands by role. */
const numbersOf = (bands: NonNullable<MethodOptions['bands']>): number[] =>
  Object.values(bands).filter((band): band is number => typeof band === 'number')
