import { KEY, type RawGeoKeys } from '#raster/crs/geokeys.ts'
import { RasterError } from '#raster/errors.ts'
import { TAG } from '#raster/tiff/tags.ts'
import type { Affine, Crs } from '#raster/types.ts'
import type { CogSpec } from './spec.ts'
import type { TagValue } from './tag-value.ts'

const MODEL = { projected: 1, geographic: 2 } as const
const PIXEL_IS_AREA = 1
const ENTRY_VALUES = 4

export function geoTags(spec: CogSpec): TagValue[] {
  const tags = spec.transform ? transformTags(spec.transform) : []
  if (spec.geoKeys) return [...tags, ...rawKeyTags(spec.geoKeys)]
  if (spec.crs) return [...tags, { tag: TAG.geoKeyDirectory, type: 'short', values: keyDirectory(spec.crs) }]
  return tags
}

/** North-up images as scale and tie point, which every reader supports; others as a matrix. */
function transformTags([x, a, b, y, d, e]: Affine): TagValue[] {
  if (b === 0 && d === 0 && a > 0 && e < 0) {
    return [
      { tag: TAG.modelPixelScale, type: 'double', values: [a, -e, 0] },
      { tag: TAG.modelTiepoint, type: 'double', values: [0, 0, 0, x, y, 0] },
    ]
  }
  return [{ tag: TAG.modelTransformation, type: 'double', values: [a, b, 0, x, d, e, 0, y, 0, 0, 0, 0, 0, 0, 0, 1] }]
}

function keyDirectory(crs: Crs): number[] {
  if (crs.epsg === null) throw new RasterError('unknown_crs', 'A CRS without an EPSG code can only be written with its own keys')
  const isProjected = crs.kind === 'projected'
  const entries = [
    [KEY.modelType, isProjected ? MODEL.projected : MODEL.geographic],
    [KEY.rasterType, PIXEL_IS_AREA],
    [isProjected ? KEY.projectedType : KEY.geographicType, crs.epsg],
  ]
  return [1, 1, 0, entries.length, ...entries.flatMap(([key = 0, value = 0]) => [key, 0, 1, value])]
}

/** Copied unchanged except for the pixel type, because our transform always starts at a corner. */
function rawKeyTags(keys: RawGeoKeys): TagValue[] {
  const directory = [...keys.directory]
  for (let at = ENTRY_VALUES; at + 3 < directory.length; at += ENTRY_VALUES) {
    if (directory[at] === KEY.rasterType) directory[at + 3] = PIXEL_IS_AREA
  }
  const tags: TagValue[] = [{ tag: TAG.geoKeyDirectory, type: 'short', values: directory }]
  if (keys.doubles.length > 0) tags.push({ tag: TAG.geoDoubleParams, type: 'double', values: keys.doubles })
  if (keys.ascii !== '') tags.push({ tag: TAG.geoAsciiParams, type: 'ascii', text: keys.ascii })
  return tags
}
