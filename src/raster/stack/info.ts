/** The description of a stack, from what the catalogue states and from the files that are open. */
import { RasterError } from '#raster/errors.ts'
import { DATA_TYPES, type Band, type DataType, type Level, type RasterInfo } from '#raster/types.ts'
import { coverageOf } from '#raster/warp/coverage.ts'
import { placementOf } from '#raster/warp/plan.ts'
import { assetOf, requireStackBands, type StackBand } from './band.ts'
import { groundPixelM, isSameGrid } from './grid.ts'

/** The header of a band's file; null if the band is not used; or why the file cannot be read. */
export type StackHeader = RasterInfo | { readonly problem: string } | null

const isInfo = (header: StackHeader | undefined): header is RasterInfo => header != null && 'levels' in header

/** Usual for imagery of one band a file, if the catalogue states no type. */
const USUAL_TYPE: DataType = 'uint16'

/**
 * Describes a stack on the grid of its finest open file. Bands that are not open are described as stated, so that a style can
 * be chosen before a file is opened.
 */
export function describeStack(bands: readonly StackBand[], headers: readonly StackHeader[]): RasterInfo {
  requireStackBands(bands)
  const open = headers.filter(isInfo)
  const first = referenceOf(open)
  const described = bands.map((band, index) => bandOf(band, headers[index] ?? null))
  const isMasked = open.some(
    (info) => info.maskKind === 'internal' || info.maskKind === 'alpha' || !isSameGrid(first, levelAt(first, 0), info, levelAt(info, 0)),
  )
  const bounds = unionOf(open)
  const hasNodata = described.some(({ nodata }) => nodata !== null)
  return {
    ...first,
    bandCount: bands.length,
    dataType: commonType(open.map(({ dataType }) => dataType)),
    bands: described,
    isScaled: described.some(({ scale, offset }, index) => isInfo(headers[index]) && (scale !== 1 || offset !== 0)),
    maskKind: isMasked ? 'internal' : hasNodata ? 'nodata' : 'none',
    alphaBand: null,
    colorTable: bands.length === 1 ? first.colorTable : null,
    interleave: 'band',
    ...(bounds ? { bounds } : {}),
  }
}

/** The area of all files, so that a map also requests tiles where only some bands have data; null if all have the same. */
function unionOf(open: readonly RasterInfo[]): RasterInfo['bounds'] | null {
  const [first, ...others] = open
  if (!first || open.some(({ transform, crs }) => !transform || !crs)) return null
  if (others.every((other) => isSameGrid(first, levelAt(first, 0), other, levelAt(other, 0)))) return null
  const all = open.map((info) => coverageOf(info).bounds)
  const side = (index: number, pick: (...values: number[]) => number) => pick(...all.map((bounds) => bounds[index]!))
  return [side(0, Math.min), side(1, Math.min), side(2, Math.max), side(3, Math.max)]
}

/** What can be said without opening a file: enough to choose a style, not to read pixels. */
export function outlineStack(bands: readonly StackBand[]): RasterInfo {
  requireStackBands(bands)
  const described = bands.map((band) => bandOf(band, null))
  return {
    width: 0,
    height: 0,
    bandCount: bands.length,
    dataType: commonType(bands.map(({ dataType: stated }) => DATA_TYPES.find((type) => type === stated) ?? USUAL_TYPE)),
    bitsPerSample: 16,
    bands: described,
    levels: [],
    transform: null,
    gcps: [],
    gcpResidualPx: null,
    placedBy: null,
    times: { items: [], tag: null },
    crs: null,
    crsProblem: null,
    maskKind: 'none',
    isScaled: described.some(({ scale, offset }) => scale !== 1 || offset !== 0),
    declaredNodata: null,
    alphaBand: null,
    colorTable: null,
    metadata: {},
    compression: 'none',
    interleave: 'band',
    byteOrder: 'little',
    bigTiff: false,
  }
}

/** The header with the smallest pixels; of several, the first. */
function referenceOf(open: readonly RasterInfo[]): RasterInfo {
  const sizes = open.map(groundPixelM)
  const reference = open[sizes.indexOf(Math.min(...sizes))]
  if (!reference) throw new RasterError('invalid_argument', 'At least one file of a stack must be readable')
  return reference
}

/** A band as stated, with the nodata value of its file. */
export function bandOf(stated: StackBand, header: StackHeader): Band {
  const { name, aliases = [], scale = 1, offset = 0, unit = null } = stated
  const own = isInfo(header) ? header.bands[(stated.band ?? 1) - 1] : undefined
  const hasOwnMask = isInfo(header) && header.maskKind !== 'none'
  return {
    name,
    aliases,
    color: 'undefined',
    nodata: own?.nodata ?? (hasOwnMask ? null : (stated.nodata ?? null)),
    scale,
    offset,
    unit: unit ?? own?.unit ?? null,
    ...(header && 'problem' in header ? { problem: header.problem } : {}),
  }
}

/** For bands that are used together: pixels need data in all of them, so files without a common area give nothing. */
export function requireOverlap(bands: readonly StackBand[], headers: readonly StackHeader[]): void {
  const reference = referenceOf(headers.filter(isInfo))
  if (!reference.transform || !reference.crs) return requireSameSize(bands, headers, reference)
  const { extent } = placementOf(reference)
  headers.forEach((header, index) => {
    if (!isInfo(header) || header === reference) return
    const other = placementOf(header).extent
    if (other.minX < extent.maxX && other.maxX > extent.minX && other.minY < extent.maxY && other.maxY > extent.minY) return
    const finest = assetOf(bands[headers.indexOf(reference)]!)
    throw new RasterError(
      'invalid_argument',
      `The assets '${finest}' and '${assetOf(bands[index]!)}' do not overlap; use bands that cover the same area`,
    )
  })
}

/** Without a georeference, files can only be combined pixel by pixel. */
function requireSameSize(bands: readonly StackBand[], headers: readonly StackHeader[], reference: RasterInfo): void {
  const other = headers.findIndex((header) => isInfo(header) && (header.width !== reference.width || header.height !== reference.height))
  if (other !== -1)
    throw new RasterError(
      'no_georeference',
      `The asset '${assetOf(bands[headers.indexOf(reference)]!)}' has no georeference, and '${assetOf(bands[other]!)}' has another size`,
    )
}

/** The levels of a file, for comparison with those of another. */
export const levelAt = (info: RasterInfo, level: number): Level => {
  const found = info.levels[level]
  if (!found) throw new RasterError('invalid_argument', `The raster has no level ${level}`)
  return found
}

const INTEGER_RANGES: Partial<Record<DataType, readonly [number, number]>> = {
  uint8: [0, 255],
  int8: [-128, 127],
  uint16: [0, 65_535],
  int16: [-32_768, 32_767],
  uint32: [0, 2 ** 32 - 1],
  int32: [-(2 ** 31), 2 ** 31 - 1],
}

/** The smallest type that holds the samples of all files exactly. */
export function commonType(types: readonly DataType[]): DataType {
  const distinct = [...new Set(types)]
  const [only] = distinct
  if (only !== undefined && distinct.length === 1) return only
  const ranges = distinct.map((type) => INTEGER_RANGES[type])
  if (ranges.every((range) => range !== undefined)) {
    const [low, high] = [Math.min(...ranges.map(([first]) => first)), Math.max(...ranges.map(([, last]) => last))]
    const fitting = (Object.keys(INTEGER_RANGES) as DataType[]).find(
      (type) => INTEGER_RANGES[type]![0] <= low && INTEGER_RANGES[type]![1] >= high,
    )
    if (fitting) return fitting
  }
  const isSingle = distinct.every((type) => ['uint8', 'int8', 'uint16', 'int16', 'float16', 'float32'].includes(type))
  return isSingle ? 'float32' : 'float64'
}
