/** Metadata of a raster that the platform stores. Pure functions of its description. */
import { defaultProfile, type Profile } from '#raster/render/profile.ts'
import type { BandSummary } from '#raster/statistics/index.ts'
import type { RasterInfo } from '#raster/types.ts'
import { applyAffine } from '#raster/warp/affine.ts'
import { placementOf } from '#raster/warp/plan.ts'
import { projectorToLonLat, type Point } from '#raster/warp/projector.ts'

const METRES_PER_DEGREE = 111_320
const CLASS_TYPES = ['uint8', 'uint16']
/**
 * Metadata names of the acquisition time, most reliable first: the moment, the start of the exposure, then dates.
 * The time a product was generated or a file was written is not the acquisition time.
 */
const TIME_ITEMS: readonly RegExp[] = [
  /^(?:acquisition|sensing|capture|exposure|imaging|datatake)[ _]?date[ _]?time(?:[ _]?utc)?$/i,
  /^(?:datetime|firstlinetime|first_line_time|earliestacqtime|acqtime|tlctime|datetimeoriginal|exif_datetimeoriginal)$/i,
  /^(?:acquisition|sensing|scene|product)[ _]?start(?:[ _]?(?:date|time|date[ _]?time))?$/i,
  /^(?:start[ _]?time|datatake_1_datatake_sensing_start)$/i,
  /^(?:(?:acquisition|sensing|capture|exposure)[ _]?(?:date|time)|date[ _]?acquired|generationtime_sensing)$/i,
]
const TIME = /^(\d{4})[-:/](\d{2})[-:/](\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) ?(Z|UTC|[+-]\d{2}:?\d{2})?)?$/
const PRECISION = 1e6

/** One name per band: the file's own description, else its colour, else its number. Names are unique. */
export function bandNamesOf(info: RasterInfo): string[] {
  const used = new Set<string>()
  return info.bands.map(({ name, color }, index) => {
    const own = name?.trim().slice(0, 100) || (['red', 'green', 'blue', 'alpha'].includes(color) ? color : `b${index + 1}`)
    const chosen = used.has(own) ? `${own}_${index + 1}` : own
    used.add(chosen)
    return chosen
  })
}

/** In percent: how far projected metres can differ from metres on the ground and still be reported unchanged. */
const NOMINAL_TOLERANCE = 0.01

/** Nominal pixel size of a projected raster, in metres; null for one in degrees. */
function nominalDistance({ crs, transform }: RasterInfo): number | null {
  if (crs?.kind !== 'projected' || !transform) return null
  const [, b, c, , e, f] = transform
  return Math.sqrt(Math.abs(b * f - c * e)) * crs.unit
}

/** Ground sample distance of the centre pixel in metres: the nominal value where it is accurate, because 10 m should read 10 m. */
export function groundSampleDistance(info: RasterInfo): number | null {
  const { crs, transform } = placementOf(info)
  const project = projectorToLonLat(crs)
  const at = (column: number, row: number): Point => {
    const point: Point = [0, 0]
    project(...applyAffine(transform, column, row), point)
    return point
  }
  const [x, y] = [info.width / 2, info.height / 2]
  const middle = at(x, y)
  const metres = (to: Point): number =>
    Math.hypot((to[0] - middle[0]) * Math.cos((middle[1] * Math.PI) / 180), to[1] - middle[1]) * METRES_PER_DEGREE
  const size = Math.sqrt(metres(at(x + 1, y)) * metres(at(x, y + 1)))
  if (!Number.isFinite(size) || size <= 0) return null
  const nominal = nominalDistance(info)
  const isAsStated = nominal !== null && Math.abs(size / nominal - 1) < NOMINAL_TOLERANCE
  return Number((isAsStated ? nominal : size).toPrecision(6))
}

/**
 * The acquisition time, if the file has it: in a metadata item with one of the known names, in any domain (also IMD and
 * RPC), else in TIFF's DateTime tag, which cameras and drones set.
 */
export function acquiredAt({ metadata, times }: RasterInfo): Date | null {
  const named = [...Object.entries(metadata), ...times.items]
  for (const pattern of TIME_ITEMS) {
    for (const [name, value] of named) {
      const time = pattern.test(name) ? timeOf(value) : null
      if (time) return time
    }
  }
  return times.tag === null ? null : timeOf(times.tag)
}

function timeOf(text: string): Date | null {
  const [, year, month, day, time = '00:00:00', zone = 'Z'] = TIME.exec(text.trim().replaceAll(/^["']|["';]+$/g, '')) ?? []
  if (year === undefined) return null
  const offset = /\d{4}$/.test(zone) ? `${zone.slice(0, -2)}:${zone.slice(-2)}` : zone.replace('UTC', 'Z')
  const date = new Date(`${year}-${month}-${day}T${time.length === 5 ? `${time}:00` : time}${offset}`)
  const isReal = !Number.isNaN(date.getTime()) && date.getTime() > 0 && Number(day) === daysIn(year, month, day)
  return isReal ? date : null
}

/** The date if the month has this day; 31 February is an error, not 3 March. */
const daysIn = (year: string, month: string | undefined, day: string | undefined): number =>
  new Date(`${year}-${month}-${day}T00:00:00Z`).getUTCDate()

/** The profile of a new upload. Each class has its own colour, and classes are never stretched or interpolated. */
export function initialProfile(info: RasterInfo, names: readonly string[], isCategorical: boolean): Profile & { name: string } {
  if (!isCategorical || info.colorTable) return defaultProfile(info, names)
  if (CLASS_TYPES.includes(info.dataType))
    return { name: 'Classes', type: 'singleband', config: { bands: [1], color_table: true, colormap: 'tab20' } }
  return { name: 'Classes', type: 'singleband', config: { bands: [1], resampling: 'nearest' } }
}

/** Above this many metres, the position note mentions the accuracy. */
const NOTED_M = 5

/** Why positions may be off by more than a pixel or a few metres; null if they are accurate. */
export function positionNote(info: RasterInfo): string | null {
  const notes: string[] = []
  const pixelM = info.transform && info.crs ? groundSampleDistance(info) : null
  const accuracyM = info.crs?.accuracyM ?? null
  if (info.crs?.note) notes.push(info.crs.note)
  else if (accuracyM !== null && pixelM !== null && accuracyM > pixelM)
    notes.push(
      `The datum of ${info.crs!.name} is accurate to about ${accuracyM} m on WGS 84, which is more than a pixel of ` +
        `${Number(pixelM.toPrecision(2))} m`,
    )
  const residualM = info.gcpResidualPx === null || !info.transform || !info.crs ? null : info.gcpResidualPx * (pixelM ?? 0)
  if (info.placedBy === 'caller') notes.push('The position was specified at upload')
  if (info.placedBy === 'rpc')
    notes.push('The image is positioned by rational polynomials (RPC) at one mean height; higher or lower ground is less accurate')
  if (residualM !== null && residualM > NOTED_M)
    notes.push(`An affine fit of its control points has an error of ${Math.round(residualM)} m (root mean square)`)
  return notes.length > 0 ? notes.join('. ') : null
}

/** The metadata that is stored with an asset, under its public names. */
export function rasterFacts(
  info: RasterInfo,
  statistics: readonly (BandSummary | null)[] | null,
  isCategorical: boolean,
): Record<string, unknown> {
  const full = info.levels[0]!
  return {
    width: info.width,
    height: info.height,
    band_count: info.bandCount,
    data_type: info.dataType,
    epsg: info.crs?.epsg ?? null,
    crs: info.crs?.name ?? null,
    position_accuracy_m: info.crs?.accuracyM ?? null,
    position_note: positionNote(info),
    placed_by: info.placedBy,
    transform: info.transform,
    compression: info.compression,
    block_size: [full.blockWidth, full.blockHeight],
    overview_count: info.levels.length - 1,
    mask: info.maskKind,
    is_categorical: isCategorical,
    bands: info.bands.map(({ name, color, nodata, scale, offset, unit }, index) => ({
      name,
      color,
      nodata: nodata === null || Number.isFinite(nodata) ? nodata : String(nodata),
      scale,
      offset,
      unit,
      statistics: summary(statistics?.[index] ?? null),
    })),
  }
}

function summary(band: BandSummary | null): Record<string, number | null> | null {
  if (!band) return null
  const rounded = (value: number | null | undefined) =>
    value == null || !Number.isFinite(value) ? null : Math.round(value * PRECISION) / PRECISION
  const [p2, p98] = band.percentiles
  return {
    min: rounded(band.min),
    max: rounded(band.max),
    mean: rounded(band.mean),
    std: rounded(band.std),
    p2: rounded(p2),
    p98: rounded(p98),
    valid_percent: rounded(band.validFraction * 100),
  }
}
