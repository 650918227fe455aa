/** Bands of a raster by number. */
import { noSuchBand } from '#raster/expression/bands.ts'
import { RasterError, type RasterInfo } from '#raster/types.ts'

/** Converts a 1-based band to zero-based; an unknown band is an error that lists the existing ones. */
export function bandIndex({ bands, bandCount }: Pick<RasterInfo, 'bands' | 'bandCount'>, band: number): number {
  if (Number.isInteger(band) && band >= 1 && band <= bandCount) return band - 1
  const names = Object.fromEntries(bands.flatMap(({ name }, index) => (name ? [[name, index + 1]] : [])))
  throw new RasterError('invalid_argument', noSuchBand(band, bandCount, names))
}
