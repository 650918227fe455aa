import { bandIndex } from '#raster/bands.ts'
import { encodeDataTile, sampleTypeOf, type DataTileStyle } from '#raster/encode/data-tile.ts'
import { parseExpression, postfixOf } from '#raster/expression/index.ts'
import { RasterError, throwIfAborted, type Raster, type RasterInfo } from '#raster/types.ts'
import type { TileAddress, TileSize } from '#raster/warp/mercator.ts'
import { planTile } from '#raster/warp/plan.ts'
import { samplePlanes, type Resampling } from '#raster/warp/sample.ts'
import type { ValidRule } from '#raster/warp/samples.ts'

import { resolveRanges, type RenderContext } from './context.ts'
import { defaultStyle, rangeFor, type Style } from './style.ts'

export interface DataTileOptions {
  size?: TileSize
  style?: Style | undefined
  resampling?: Resampling | undefined
  signal?: AbortSignal | undefined
}

const DEFAULT_SIZE = 256
/** Of samples: 16 bands of 512 × 512 pixels as 32-bit floats, which resampled integers are. */
const MAX_BYTES = 16 * 1024 * 1024

/** The samples that a tile of this style is rendered from, on the same pixels, and everything needed to render them. */
export async function renderDataTile(
  context: RenderContext,
  raster: Raster,
  tile: TileAddress,
  options: DataTileOptions = {},
): Promise<Buffer> {
  const { size = DEFAULT_SIZE, style = defaultStyle(raster.info), resampling = 'nearest', signal } = options
  const { info } = raster
  throwIfAborted(signal)
  const unscale = info.isScaled ?? false
  const { bands, rule, style: described } = contentOf(style, info)
  requireSize(info, bands.length, size)
  const [{ planes, mask }, ranges] = await Promise.all([
    samplePlanes({
      raster,
      blocks: context.blocks,
      windows: planTile(raster, tile, size),
      bands: bands.map((band) => bandIndex(info, band)),
      width: size,
      height: size,
      // Class codes cannot be interpolated.
      resampling: style.kind === 'palette' ? 'nearest' : resampling,
      rule,
      signal,
    }),
    resolveRanges(context, raster, style, { unscale, signal }),
  ])
  throwIfAborted(signal)
  const header = {
    width: size,
    height: size,
    type: sampleTypeOf(planes[0]!),
    bands,
    scales: unscale ? bands.map((band) => scaleOf(info, band)) : null,
    style: described,
    ranges: channelsOf(described).map((channel) => rangeFor(ranges, channel)),
  }
  return encodeDataTile(header, planes, mask)
}

interface Content {
  /** 1-based, each once. */
  bands: number[]
  rule: ValidRule
  style: DataTileStyle
}

/** The bands that a style uses, by the rules of `draw`. */
function contentOf(style: Style, info: RasterInfo): Content {
  switch (style.kind) {
    case 'rgb':
      return { bands: [...new Set(style.bands)], rule: 'any', style: { kind: 'rgb', bands: style.bands } }
    case 'single': {
      const { band, colormap = null, hillshade = false } = style
      return { bands: [band], rule: 'all', style: { kind: 'single', band, colormap, hillshade } }
    }
    case 'expression': {
      const { expression, names, colormap = null } = style
      const { bands, results } = parseExpression(expression, { bandCount: info.bandCount, ...(names ? { names } : {}) })
      if (bands.length === 0) throw new RasterError('invalid_argument', 'The expression must use at least one band')
      return { bands, rule: 'all', style: { kind: 'expression', results: results.map(postfixOf), colormap } }
    }
    case 'palette':
      return { bands: [1], rule: 'all', style: { kind: 'palette' } }
  }
}

function channelsOf(style: DataTileStyle): number[] {
  const count = style.kind === 'rgb' ? 3 : style.kind === 'expression' ? style.results.length : style.kind === 'single' ? 1 : 0
  return Array.from({ length: count }, (_, channel) => channel)
}

function scaleOf(info: RasterInfo, band: number): { scale: number; offset: number } {
  const { scale, offset } = info.bands[band - 1] ?? { scale: 1, offset: 0 }
  return { scale, offset }
}

/** The most bytes that a sample of this type can have, so that the limit does not depend on the method of resampling. */
const bytesOf = ({ dataType }: RasterInfo): number => (dataType.endsWith('64') || dataType.endsWith('int32') ? 8 : 4)

function requireSize(info: RasterInfo, bandCount: number, size: number): void {
  const most = Math.floor(MAX_BYTES / (bytesOf(info) * size * size))
  if (bandCount > most)
    throw new RasterError(
      'invalid_argument',
      `A data tile of ${size} × ${size} pixels has at most ${most} bands of this file, not ${bandCount}`,
    )
}
