import { RasterError, type RasterInfo } from '#raster/types.ts'

/** An overview of this size represents the range of the whole image well enough, and costs little. */
export const RANGE_SIDE_PX = 512
export const RANGE_PERCENTILES = [2, 98] as const

/** Values that become black and white; values beyond are clipped. A gamma above 1 brightens the middle. */
export type Range = readonly [low: number, high: number, gamma?: number]

/** How an image is rendered. Bands count from 1. */
export type Style =
  | {
      kind: 'rgb'
      bands: readonly [number, number, number]
      ranges?: readonly Range[] | undefined
      /** Natural colour: the three bands are stretched together, so that colours stay true. */
      natural?: boolean | undefined
    }
  /** Grey without a colormap. */
  | {
      kind: 'single'
      band: number
      colormap?: string | undefined
      ranges?: readonly Range[] | undefined
      /** Samples are heights of land, which are hillshaded from the north-west. */
      hillshade?: boolean | undefined
    }
  /** One result with a colormap (grey without), or three for red, green and blue. */
  | {
      kind: 'expression'
      expression: string
      names?: Readonly<Record<string, number>> | undefined
      colormap?: string | undefined
      ranges?: readonly Range[] | undefined
    }
  /** Class codes in the file's own colours or, without any, in those of a colormap in turn. */
  | { kind: 'palette'; colormap?: string | undefined }

/** The default style of an image without any other information. */
export function defaultStyle(info: RasterInfo): Style {
  if (info.colorTable) return { kind: 'palette' }
  const numberOf = (color: 'red' | 'green' | 'blue') => info.bands.findIndex((band) => band.color === color) + 1
  const byColor: [number, number, number] = [numberOf('red'), numberOf('green'), numberOf('blue')]
  if (byColor.every((band) => band > 0)) return { kind: 'rgb', bands: byColor, natural: true }
  const [red, green, blue] = dataBands(info)
  if (red !== undefined && green !== undefined && blue !== undefined) return { kind: 'rgb', bands: [red, green, blue], natural: true }
  return { kind: 'single', band: red ?? 1 }
}

/** Percentiles for natural colour ranges: nearly the darkest, the median, and bright ground below and above thin clouds. */
export const NATURAL_PERCENTILES = [1, 50, 90, 98] as const
/** Mid-tones are raised a little; more if clouds would leave the ground dark, until its median is this bright. */
const [LEAST_GAMMA, MOST_GAMMA] = [1.3, 2]
const GROUND_BRIGHTNESS = 0.22
/** Clouds are far brighter than the ground: beyond this multiple of most of the ground, they may be clipped. */
const MAX_OVER_GROUND = 3

/**
 * Ranges for red, green and blue from their `NATURAL_PERCENTILES`. All three have the same width, so that grey stays grey and
 * a field stays green. Haze is removed: it is strongest in blue and weakest in red, so the dark end of green is never
 * above that of blue, nor that of red above that of green; a dark end that violates this is part of the scene.
 */
export function naturalRanges(percentiles: readonly (readonly (number | null | undefined)[])[]): Range[] {
  const [red, green, blue] = percentiles.map(([dark, middle, ground, bright]) => ({
    dark: dark ?? 0,
    middle: middle ?? 0,
    ground: ground ?? 1,
    bright: bright ?? 1,
  }))
  const darkBlue = blue!.dark
  const darkGreen = Math.min(green!.dark, darkBlue)
  const lows = [Math.min(red!.dark, darkGreen), darkGreen, darkBlue]
  const most = (pick: 'middle' | 'ground' | 'bright') => Math.max(...[red!, green!, blue!].map((band, index) => band[pick] - lows[index]!))
  const width = Math.min(most('bright'), MAX_OVER_GROUND * Math.max(most('ground'), Number.MIN_VALUE))
  const gamma = gammaFor(most('middle') / width)
  return lows.map((low): Range => (width > 0 ? [low, low + width, gamma] : [low, low + 1]))
}

/** The gamma that gives the median, from 0 to 1, the brightness of ground. */
function gammaFor(middle: number): number {
  const gamma = middle > 0 && middle < 1 ? Math.log(middle) / Math.log(GROUND_BRIGHTNESS) : LEAST_GAMMA
  return Math.min(MOST_GAMMA, Math.max(LEAST_GAMMA, gamma))
}

/** Channels of an image. */
const MAX_SHOWN = 3

/** Parses `min,max`, or one such pair per band separated by `;`, up to a maximum. */
export function parseRanges(text: string, most: number = MAX_SHOWN): Range[] {
  const ranges = text.split(';').map((pair): Range => {
    const [low, high, ...rest] = pair.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
    if (low === undefined || high === undefined || rest.length > 0 || !Number.isFinite(low) || !Number.isFinite(high) || low >= high) {
      throw new RasterError('invalid_argument', "rescale must be 'min,max' with min less than max")
    }
    return [low, high]
  })
  if (ranges.length > most) throw new RasterError('invalid_argument', `rescale accepts at most ${most} pairs`)
  return ranges
}

/**
 * The ranges of the shown bands: one pair for all, one per shown band, or one per band of the file without alpha.
 * With default bands, pairs per band of the file take precedence.
 */
export function rangesOfBands(ranges: readonly Range[], shown: readonly number[], info: RasterInfo, isChosen: boolean): readonly Range[] {
  const bands = dataBands(info)
  const isOfFile = ranges.length === bands.length && (!isChosen || ranges.length > shown.length)
  if (isOfFile) return shown.map((band) => rangeFor(ranges, bands.indexOf(band)))
  if (ranges.length > MAX_SHOWN)
    throw new RasterError(
      'invalid_argument',
      `rescale has ${ranges.length} pairs; give one, one for each of the ${shown.length} shown, ` +
        `or one for each of the ${bands.length} in the file`,
    )
  return ranges
}

/** 1-based numbers of the bands, without alpha. */
export const dataBands = (info: RasterInfo): number[] =>
  info.bands.map((_, index) => index + 1).filter((band) => band - 1 !== info.alphaBand)

/** A `rescale` with one pair per band; null if none has a value. A band with no or a single value has a range as well. */
export function rescaleText(pairs: readonly (readonly [low: number, high: number] | null)[]): string | null {
  if (pairs.every((pair) => pair === null)) return null
  return pairs.map((pair) => (pair === null ? EMPTY_PAIR : widened(pair)).join(',')).join(';')
}

const EMPTY_PAIR = [0, 1] as const
/** Relative, and larger than the spacing of 64-bit floats. */
const WIDENING = 2 ** -50

/** Starts at the single value, so that it is shown evenly. */
function widened([low, high]: readonly [number, number]): readonly [number, number] {
  if (high > low) return [low, high]
  const step = Math.max(1, Math.abs(low) * WIDENING)
  return Number.isFinite(low + step) ? [low, low + step] : [low - step, low]
}

/** One range is used for all bands; otherwise each has its own. */
export function rangeFor(ranges: readonly Range[], index: number): Range {
  return ranges[index] ?? ranges[0] ?? [0, 255]
}
