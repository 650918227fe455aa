/** Validates a profile before it is saved. */
import type { Static } from 'typebox'
import { invalidField } from '#core/problem.ts'
import * as itemLayers from '#model/imagery/item-layer.ts'
import type { ProfileType } from '#core/vocabulary.ts'
import type { ProfileConfig } from '#model/imagery/visualization-profile.ts'
import type { Context } from '#operation.ts'
import { findColormap } from '#raster/colormap/index.ts'
import { styleOfProfile } from '#raster/render/profile.ts'
import { parseRanges } from '#raster/render/style.ts'
import { RasterError } from '#raster/types.ts'
import { bandNames } from '#raster/render/request.ts'
import { rasterSourceOf } from '#model/imagery/asset.ts'
import type { Config } from './wire.ts'

/** Returns the config without nulls; 422 if it does not match its type. */
export function requireConfig(type: ProfileType, input: Static<typeof Config>): ProfileConfig {
  const config = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null && value !== undefined)) as ProfileConfig
  const { bands, expression, colormap, rescale, color_table: isCategorical } = config
  const bandCount = type === 'expression' ? 0 : type === 'singleband' ? 1 : 3
  if ((bands?.length ?? 0) !== bandCount)
    throw invalidField(
      'config.bands',
      bandCount === 0
        ? "is not allowed for type 'expression', which names its bands itself"
        : `must have ${bandCount} band${bandCount === 1 ? '' : 's'} for type '${type}'`,
    )
  if ((type === 'expression') !== (expression !== undefined))
    throw invalidField(
      'config.expression',
      type === 'expression' ? "is required for type 'expression'" : `is not allowed for type '${type}'`,
    )
  if (bandCount === 3 && colormap !== undefined)
    throw invalidField('config.colormap', 'applies to a single band or an expression, not to three bands')
  if (isCategorical && (type !== 'singleband' || rescale !== undefined))
    throw invalidField('config.color_table', "requires type 'singleband' without rescale, because class codes are not stretched")
  if (colormap !== undefined && !findColormap(colormap)) throw invalidField('config.colormap', 'Unknown colormap; see cog.colormaps')
  if (rescale !== undefined) rejectInvalid('config.rescale', () => parseRanges(rescale))
  return config
}

/** The asset must exist. If its file can be read now, the profile must be able to render it. */
export async function requireFit(
  { db, raster, signal }: Pick<Context, 'db' | 'raster' | 'signal'>,
  itemSeq: number,
  profile: { type: ProfileType; config: ProfileConfig; assetKey: string | null },
): Promise<void> {
  const layer = await itemLayers.find(db, itemSeq, { assetKey: profile.assetKey, profile: null })
  if (!layer) return // Deleted concurrently; the transaction throws 404.
  if (layer.asset.state !== 'ready') return
  const info = await raster.describe(rasterSourceOf(layer.asset), signal).catch((error: unknown) => {
    if (error instanceof RasterError) return null
    throw error
  })
  if (info) rejectInvalid('config', () => styleOfProfile(profile, info, bandNames(info, layer.asset.bandNames)))
}

function rejectInvalid(field: string, parse: () => unknown): void {
  try {
    parse()
  } catch (error) {
    if (error instanceof RasterError) throw invalidField(field, error.message)
    throw error
  }
}
