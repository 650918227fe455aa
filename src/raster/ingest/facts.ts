/** What a platform keeps of a raster beside its pixels. Pure functions of its description. */
import { defaultProfile, type Look } from '#raster/render/profile.ts'
import type { BandSummary } from '#raster/statistics/index.ts'
import type { RasterInfo } from '#raster/types.ts'
import { applyAffine } from '#raster/warp/affine.ts'
import { placementOf } from '#raster/warp/plan.ts'
import { projectorToLonLat, type Point } from '#raster/warp/projector.ts'

const METRES_PER_DEGREE = 111_320
const CLASS_TYPES = ['uint8', 'uint16']
/** Under which names producers write when a scene was taken. */
const TIME_ITEMS = /^(?:(?:acquisition|sensing|capture|exposure)[ _]?(?:date(?:[ _]?time)?|time)|date[ _]?acquired|datetime)$/i
const TIME = /^(\d{4})[-:/](\d{2})[-:/](\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)(Z|[+-]\d{2}:\d{2})?)?$/
const PRECISION = 1e6

/** One a band: the file's own description, else the colour that it stands for, else its number. No name comes twice. */
export function bandNamesOf(info: RasterInfo): string[] {
  const used = new Set<string>()
  return info.bands.map(({ name, color }, index) => {
    const wanted = name?.trim().slice(0, 100) || (['red', 'green', 'blue', 'alpha'].includes(color) ? color : `b${index + 1}`)
    const chosen = used.has(wanted) ? `${wanted}_${index + 1}` : wanted
    used.add(chosen)
    return chosen
  })
}

/** Metres along the ground that the middle pixel covers. */
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
  return Number.isFinite(size) && size > 0 ? Number(size.toPrecision(6)) : null
}

/** When the scene was taken, if the file says so. The time at which a file was written says nothing about that. */
export function acquiredAt({ metadata }: RasterInfo): Date | null {
  for (const [name, value] of Object.entries(metadata)) {
    const [, year, month, day, time = '00:00:00', zone = 'Z'] = (TIME_ITEMS.test(name) && TIME.exec(value.trim())) || []
    const found = year === undefined ? null : new Date(`${year}-${month}-${day}T${time}${zone}`)
    if (found && !Number.isNaN(found.getTime())) return found
  }
  return null
}

/** The look that it starts with. Classes have a colour each, and none is stretched or mixed. */
export function firstLook(info: RasterInfo, names: readonly string[], isCategorical: boolean): Look & { name: string } {
  if (!isCategorical || info.colorTable) return defaultProfile(info, names)
  if (CLASS_TYPES.includes(info.dataType))
    return { name: 'Classes', type: 'singleband', config: { bands: [1], color_table: true, colormap: 'tab20' } }
  return { name: 'Classes', type: 'singleband', config: { bands: [1], resampling: 'nearest' } }
}

/** The facts that are kept with an asset, under names that go out as they are. */
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

function summary(found: BandSummary | null): Record<string, number | null> | null {
  if (!found) return null
  const rounded = (value: number | null | undefined) =>
    value == null || !Number.isFinite(value) ? null : Math.round(value * PRECISION) / PRECISION
  const [p2, p98] = found.percentiles
  return {
    min: rounded(found.min),
    max: rounded(found.max),
    mean: rounded(found.mean),
    std: rounded(found.std),
    p2: rounded(p2),
    p98: rounded(p98),
    valid_percent: rounded(found.validFraction * 100),
  }
}
