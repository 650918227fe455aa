import { RasterError, type RasterInfo } from '#raster/types.ts'

/** An overview of this size tells the whole image's range well enough, and costs little. */
export const RANGE_SIDE_PX = 512
export const RANGE_PERCENTILES = [2, 98] as const

/** Values that become the darkest and the brightest; what lies beyond is cut off. A gamma above 1 brightens what lies between. */
export type Range = readonly [low: number, high: number, gamma?: number]

/** How an image is coloured. Bands count from 1. */
export type Style =
  | {
      kind: 'rgb'
      bands: readonly [number, number, number]
      ranges?: readonly Range[] | undefined
      /** What the eye would see: the three are stretched together, so that colours stay what they are. */
      natural?: boolean | undefined
    }
  /** Grey without a colormap. */
  | {
      kind: 'single'
      band: number
      colormap?: string | undefined
      ranges?: readonly Range[] | undefined
      /** Samples are heights of land: they are lit from the north-west. */
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
  /** Numbers of classes in the file's own colours or, where it has none, in those of a colormap in turn. */
  | { kind: 'palette'; colormap?: string | undefined }

/** The colouring of an image about which nothing else is known. */
export function defaultStyle(info: RasterInfo): Style {
  if (info.colorTable) return { kind: 'palette' }
  const numberOf = (color: 'red' | 'green' | 'blue') => info.bands.findIndex((band) => band.color === color) + 1
  const byColor: [number, number, number] = [numberOf('red'), numberOf('green'), numberOf('blue')]
  if (byColor.every((band) => band > 0)) return { kind: 'rgb', bands: byColor, natural: true }
  const [red, green, blue] = dataBands(info)
  if (red !== undefined && green !== undefined && blue !== undefined) return { kind: 'rgb', bands: [red, green, blue], natural: true }
  return { kind: 'single', band: red ?? 1 }
}

/** What the ranges of natural colours are found from: nearly the darkest, the middle, and bright ground below and above thin clouds. */
export const NATURAL_PERCENTILES = [1, 50, 90, 98] as const
/** The middle tones are lifted a little; more where clouds would leave the ground in the dark, until its middle is this bright. */
const [LEAST_GAMMA, MOST_GAMMA] = [1.3, 2]
const GROUND_BRIGHTNESS = 0.22
/** Clouds are far brighter than the ground: beyond this many times what most of the ground reaches, they may lose their shades. */
const MAX_OVER_GROUND = 3

/**
 * Ranges for red, green and blue from their `NATURAL_PERCENTILES`. All three have the same width, so that grey stays grey and
 * a field stays green. What haze adds is taken away: it is most in blue and least in red, so the dark end of green is never
 * above that of blue, nor that of red above that of green; a dark end that breaks this is something in the picture.
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

/** By which the middle, from 0 to 1 before it, gets the brightness of ground. */
function gammaFor(middle: number): number {
  const gamma = middle > 0 && middle < 1 ? Math.log(middle) / Math.log(GROUND_BRIGHTNESS) : LEAST_GAMMA
  return Math.min(MOST_GAMMA, Math.max(LEAST_GAMMA, gamma))
}

/** Channels of a picture. */
const MAX_SHOWN = 3

/** Reads `min,max`, or one such pair a band separated by `;`, for at most so many. */
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
 * The ranges of the bands that a picture shows, from pairs of which there is one for all, one for each of those bands or one
 * for each band of the file, without alpha. Where nobody chose the bands, pairs for each of the file's are meant first.
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

/** Numbers of the bands from 1, without alpha. */
export const dataBands = (info: RasterInfo): number[] =>
  info.bands.map((_, index) => index + 1).filter((band) => band - 1 !== info.alphaBand)

/** A `rescale` of one pair for each; null where none has a value. A band without one, or with a single one, has a range as well. */
export function rescaleText(pairs: readonly (readonly [low: number, high: number] | null)[]): string | null {
  if (pairs.every((pair) => pair === null)) return null
  return pairs.map((pair) => (pair === null ? EMPTY_PAIR : widened(pair)).join(',')).join(';')
}

const EMPTY_PAIR = [0, 1] as const
/** Of a number, and more than a float of 64 bits leaves between it and the next. */
const WIDENING = 2 ** -50

/** Begins with the single value, so that it is shown evenly. */
function widened([low, high]: readonly [number, number]): readonly [number, number] {
  if (high > low) return [low, high]
  const step = Math.max(1, Math.abs(low) * WIDENING)
  return Number.isFinite(low + step) ? [low, low + step] : [low - step, low]
}

/** One range serves all bands; otherwise each has its own. */
export function rangeFor(ranges: readonly Range[], index: number): Range {
  return ranges[index] ?? ranges[0] ?? [0, 255]
}
