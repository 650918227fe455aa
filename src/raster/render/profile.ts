/** Visualization profiles: the default of an image, and the style that a profile gives for an image. */
import { findColormap, unknownColormap } from '#raster/colormap/index.ts'
import { RasterError, type RasterInfo } from '#raster/types.ts'
import type { Resampling } from '#raster/warp/sample.ts'

import { bandNames, parseStyle, visualizationsOf, type BandNames } from './request.ts'
import { defaultStyle, type Style } from './style.ts'

interface LookConfig {
  /** From 1: one, or three for red, green and blue. */
  bands?: number[]
  expression?: string
  colormap?: string
  rescale?: string
  /** Pixel values are class codes: each has its own colour, and none is stretched or interpolated. */
  color_table?: boolean
  resampling?: Resampling
}

export interface Profile {
  type: 'rgb' | 'singleband' | 'multiband' | 'expression'
  config: LookConfig
}

/** Colours for classes of a file that has none of its own. */
const CLASS_COLORMAP = 'tab20'
const CLASS_NAMES = /(^|[^a-z])(class(es|ification)?|labels?|land_?cover|land_?use|lulc|scl|categor(y|ies)|mask|qa)([^a-z]|$)/i
const CLASS_TYPES = ['uint8', 'uint16']

/**
 * The default profile of an image: natural colour if the bands are known, elevation and classes as such.
 * It has no ranges: those are computed from the image when it is rendered. `names` are set by users and override
 * those of the file.
 */
export function defaultProfile(info: RasterInfo, names: readonly string[] | null = null): Profile & { name: string } {
  const known = bandNames(info, names)
  if (info.colorTable) return { name: 'Classes', type: 'singleband', config: { bands: [1], color_table: true } }
  if (isCategorical(info, known))
    return { name: 'Classes', type: 'singleband', config: { bands: [1], color_table: true, colormap: CLASS_COLORMAP } }
  const { visualizations, default_id: defaultId } = visualizationsOf(info, known)
  const derived = visualizations.find(({ id }) => id === defaultId)
  if (derived?.kind === 'rgb') return { name: derived.label, type: 'rgb', config: { bands: derived.bands! } }
  if (derived?.kind === 'elevation')
    return { name: derived.label, type: 'singleband', config: { bands: derived.bands!, colormap: derived.colormap! } }
  const style = defaultStyle(info)
  if (style.kind === 'rgb') return { name: 'Natural colour', type: 'rgb', config: { bands: [...style.bands] } }
  const band = style.kind === 'single' ? style.band : 1
  return { name: Object.keys(known).find((name) => known[name] === band) ?? `Band ${band}`, type: 'singleband', config: { bands: [band] } }
}

function isCategorical(info: RasterInfo, names: BandNames): boolean {
  if (info.bandCount !== 1 || !CLASS_TYPES.includes(info.dataType)) return false
  const says = ['LAYER_TYPE', 'RepresentationType'].some((entry) => info.metadata[entry]?.toLowerCase() === 'thematic')
  return says || Object.keys(names).some((name) => CLASS_NAMES.test(name))
}

/** The style of a profile for this image; what the image cannot show is rejected before a pixel is read. */
export function styleOfProfile({ type, config }: Profile, info: RasterInfo, names: BandNames): Style {
  const { bands, expression, colormap, rescale, color_table: isClasses } = config
  if (isClasses) return classStyle(info, colormap)
  if (type === 'expression') return parseStyle({ expression, colormap, rescale }, info, names)
  return parseStyle({ bands: bands?.join(','), colormap, rescale }, info, names)
}

function classStyle(info: RasterInfo, colormap: string = CLASS_COLORMAP): Style {
  if (!info.colorTable && !CLASS_TYPES.includes(info.dataType))
    throw new RasterError(
      'invalid_argument',
      `color_table needs a file with a colour table, or integer samples; these are ${info.dataType}`,
    )
  if (!findColormap(colormap)) throw new RasterError('invalid_argument', unknownColormap(colormap))
  return { kind: 'palette', ...(info.colorTable ? {} : { colormap }) }
}
