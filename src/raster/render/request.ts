import { meant } from '#core/nearest.ts'
import { findColormap, unknownColormap } from '#raster/colormap/index.ts'
import { listBands, noSuchBand } from '#raster/expression/bands.ts'
import { parseExpression } from '#raster/expression/index.ts'
import { reflectanceScaleOf } from '#raster/formulas/reflectance.ts'
import { normalizeRoles } from '#raster/formulas/roles.ts'
import { listVisualizations, type Visualization } from '#raster/formulas/visualizations.ts'
import { LIMITS } from '#raster/limits.ts'
import { RasterError, type RasterInfo } from '#raster/types.ts'

import { defaultStyle, parseRanges, rangesOfBands, type Range, type Style } from './style.ts'

/** A style as requested, in the parameters of a tile URL. */
interface StyleRequest {
  /** `1` or `4,3,2`. */
  bands?: string | null | undefined
  expression?: string | null | undefined
  colormap?: string | null | undefined
  /** `min,max`, or one such pair per shown band or per band of the file, separated by `;`. */
  rescale?: string | null | undefined
  /** The id of a derived visualization, such as `rgb` or `ndvi`. */
  visualization?: string | null | undefined
}

/** Band names to 1-based numbers. */
export type BandNames = Readonly<Record<string, number>>

/** The style of a request for this raster; what is not possible is rejected before a pixel is read. */
export function parseStyle(request: StyleRequest, info: RasterInfo, names: BandNames = bandNames(info)): Style {
  const { bands, expression, colormap, visualization } = request
  if ([bands, expression, visualization].filter((mode) => mode != null).length > 1)
    throw refusal('give only one of bands, expression and visualization')
  if (colormap != null && !findColormap(colormap)) throw refusal(unknownColormap(colormap))
  const ranges = request.rescale == null ? undefined : parseRanges(request.rescale, LIMITS.bandCount)
  if (visualization != null) return ofVisualization(findVisualization(info, visualization, names), ranges, info, rolesFor(info, names))
  if (expression != null) {
    const { results } = parseExpression(expression, { names, bandCount: info.bandCount })
    if (results.length !== 1 && results.length !== 3) throw refusal('an expression gives one result, or three for red, green and blue')
    if (ranges && ranges.length > results.length) throw refusal(`rescale has ${ranges.length} pairs for ${results.length} results`)
    return { kind: 'expression', expression, names, ranges, ...(colormap != null ? { colormap } : {}) }
  }
  if (bands != null) return ofBands(parseBands(bands, info, names), { colormap, ranges, info, names: rolesFor(info, names) })
  const standard = defaultStyle(info)
  if (colormap != null) {
    if (info.bandCount !== 1) throw refusal('colormap needs an expression, or one band')
    return { kind: 'single', band: 1, colormap, ranges: ranges && rangesOfBands(ranges, [1], info, false) }
  }
  if (!ranges || (standard.kind !== 'rgb' && standard.kind !== 'single')) return standard
  return { ...standard, ranges: rangesOfBands(ranges, standard.kind === 'rgb' ? standard.bands : [standard.band], info, false) }
}

/** The visualizations that follow from a raster's band names. */
export function visualizationsOf(info: RasterInfo, names: BandNames = bandNames(info)): ReturnType<typeof listVisualizations> {
  const scale = reflectanceScaleOf(info)
  // Floats may be reflectances or anything else: their own values determine the range.
  const renderParams = scale === 1 ? {} : { reflectance_scale: scale }
  return listVisualizations({ bandRoles: rolesFor(info, names), dataType: 'raster', renderParams })
}

/** Band numbers or names, separated by commas. */
export function parseBands(text: string, info: RasterInfo, names: BandNames = bandNames(info)): number[] {
  const { bandCount } = info
  const bands = text.split(',').map((part) => {
    const name = part.trim()
    return /^\d{1,3}$/.test(name) ? Number(name) : Object.hasOwn(names, name) ? names[name]! : 0
  })
  if (bands.some((band) => band < 1))
    throw refusal(`bands must be numbers from 1 or band names, such as '4,3,2'; ${listBands(names, bandCount)}`)
  const missing = bands.find((band) => band > bandCount)
  if (missing !== undefined) throw refusal(noSuchBand(missing, bandCount, names))
  return bands
}

/** Names set by users or the file; without any, the colour interpretation of the bands. */
const rolesFor = (info: RasterInfo, names: BandNames): BandNames => (Object.keys(names).length > 0 ? names : colorRoles(info))

interface BandStyle {
  colormap?: string | null | undefined
  ranges?: readonly Range[] | undefined
  info: RasterInfo
  names: BandNames
}

function ofBands(bands: readonly number[], { colormap: given, ranges: pairs, info, names }: BandStyle): Style {
  const [first, second, third] = bands
  const ranges = pairs && rangesOfBands(pairs, bands, info, true)
  const colormap = given ?? undefined
  if (bands.length === 1) {
    const isLand = colormap !== undefined && LAND_COLORMAPS.includes(colormap) && normalizeRoles(names).get('ELEVATION') === first
    return { kind: 'single', band: first!, colormap, ranges, ...(isLand ? { hillshade: true } : {}) }
  }
  if (bands.length !== 3) throw refusal('bands must be one number, or three for red, green and blue')
  if (colormap !== undefined) throw refusal('colormap needs an expression, or one band')
  return { kind: 'rgb', bands: [first!, second!, third!], ranges, ...(isNatural(bands, info, names) ? { natural: true } : {}) }
}

/** Elevation in these roles is hillshaded like land. */
const LAND_COLORMAPS = ['hypsometric', 'relief', 'terrain', 'gist_earth']

const COLOURS = ['RED', 'GREEN', 'BLUE'] as const

/** Red, green and blue in this order; for unknown bands, the default ones. */
function isNatural(bands: readonly number[], info: RasterInfo, names: BandNames): boolean {
  const roles = normalizeRoles(names)
  if (COLOURS.some((role) => roles.has(role))) return COLOURS.every((role, index) => roles.get(role) === bands[index])
  const standard = defaultStyle(info)
  return standard.kind === 'rgb' && standard.natural === true && standard.bands.every((band, index) => band === bands[index])
}

function ofVisualization(
  { kind, bands, expression, colormap, rescale }: Visualization,
  given: readonly Range[] | undefined,
  info: RasterInfo,
  names: BandNames,
): Style {
  const ranges = given ?? (rescale === null ? undefined : parseRanges(rescale))
  if (kind === 'index') return { kind: 'expression', expression: expression!, ranges, ...(colormap ? { colormap } : {}) }
  return ofBands(bands!, { colormap: kind === 'rgb' ? null : colormap, ranges, info, names })
}

function findVisualization(info: RasterInfo, id: string, names: BandNames): Visualization {
  const { visualizations } = visualizationsOf(info, names)
  const match = visualizations.find((visualization) => visualization.id === id)
  const ids = visualizations.map((visualization) => visualization.id)
  if (!match)
    throw refusal(`this image has no visualization '${id.slice(0, 50)}'${meant(id, ids, ids.length > 0 ? `it has ${ids.join(', ')}` : '')}`)
  return match
}

/** The band names: those given, one per band, or else the file's own. */
export function bandNames(info: RasterInfo, given: readonly string[] | null = null): BandNames {
  const names = info.bands.flatMap((band, index) => {
    const name = given?.[index] || band.name
    return name ? [[name, index + 1] as const] : []
  })
  // A name goes before another band's alias, and an alias before the same one of a later band.
  const aliases = info.bands.flatMap(({ aliases = [] }, index) => aliases.map((alias) => [alias, index + 1] as const))
  return Object.fromEntries([...names, ...aliases.toReversed(), ...names])
}

function colorRoles(info: RasterInfo): BandNames {
  return Object.fromEntries(
    info.bands.flatMap((band, index) => (['red', 'green', 'blue'].includes(band.color) ? [[band.color, index + 1] as const] : [])),
  )
}

function refusal(message: string): RasterError {
  return new RasterError('invalid_argument', message)
}
