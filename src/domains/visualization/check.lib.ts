/** What can be wrong with a profile is found before it is saved. */
import type { Static } from 'typebox'
import { invalidField } from '#core/problem.ts'
import * as itemLayers from '#model/imagery/item-layer.ts'
import type { ProfileType } from '#core/vocabulary.ts'
import type { ProfileConfig } from '#model/imagery/visualization-profile.ts'
import type { Context } from '#operation.ts'
import { findColormap } from '#raster/colormap/index.ts'
import { styleOfLook } from '#raster/render/profile.ts'
import { parseRanges } from '#raster/render/style.ts'
import { RasterError } from '#raster/types.ts'
import { bandNames } from '#raster/render/request.ts'
import { rasterSourceOf } from '#model/imagery/asset.ts'
import type { Config } from './wire.ts'

/** The config without what is null, if it fits its type. */
export function requireConfig(type: ProfileType, given: Static<typeof Config>): ProfileConfig {
  const config = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== undefined)) as ProfileConfig
  const { bands, expression, colormap, rescale, color_table: isClasses } = config
  const bandCount = type === 'expression' ? 0 : type === 'singleband' ? 1 : 3
  if ((bands?.length ?? 0) !== bandCount)
    throw invalidField(
      'config.bands',
      bandCount === 0
        ? 'must be absent: an expression names its bands itself'
        : `must be ${bandCount} band${bandCount === 1 ? '' : 's'} for type '${type}'`,
    )
  if ((type === 'expression') !== (expression !== undefined))
    throw invalidField('config.expression', type === 'expression' ? "is needed for type 'expression'" : `must be absent for type '${type}'`)
  if (bandCount === 3 && colormap !== undefined) throw invalidField('config.colormap', 'has no meaning for three bands')
  if (isClasses && (type !== 'singleband' || rescale !== undefined))
    throw invalidField('config.color_table', "is for type 'singleband' without rescale: classes are not stretched")
  if (colormap !== undefined && !findColormap(colormap)) throw invalidField('config.colormap', 'Unknown colormap; see cog.colormaps')
  if (rescale !== undefined) refusing('config.rescale', () => parseRanges(rescale))
  return config
}

/** The asset must be there. Where its file can be read now, the profile must be one that the file can be shown by. */
export async function requireFit(
  { db, raster, signal }: Pick<Context, 'db' | 'raster' | 'signal'>,
  itemSeq: number,
  look: { type: ProfileType; config: ProfileConfig; assetKey: string | null },
): Promise<void> {
  const layer = await itemLayers.find(db, itemSeq, { assetKey: look.assetKey, profile: null })
  if (!layer) return // Deleted meanwhile: the transaction finds that out and says so.
  if (layer.asset.state !== 'ready') return
  const info = await raster.describe(rasterSourceOf(layer.asset), signal).catch((error: unknown) => {
    if (error instanceof RasterError) return null
    throw error
  })
  if (info) refusing('config', () => styleOfLook(look, info, bandNames(info, layer.asset.bandNames)))
}

function refusing(field: string, parse: () => unknown): void {
  try {
    parse()
  } catch (error) {
    if (error instanceof RasterError) throw invalidField(field, error.message)
    throw error
  }
}
