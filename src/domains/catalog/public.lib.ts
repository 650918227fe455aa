/** Public imagery: open data with files that tiles can be rendered from. */
import { invalidField, notFound, problem } from '#core/problem.ts'
import type { Context } from '#operation.ts'
import type { Scene, Source, SourceCollection, Vendors } from '#ports/vendors.ts'
import { listVisualizations } from '#raster/formulas/visualizations.ts'
import { bandNames } from '#raster/render/request.ts'
import type { RasterInfo } from '#raster/types.ts'
import { coverageOf } from '#raster/warp/coverage.ts'

interface PublicCollection {
  /** `landsat`, `naip`, `sentinel`, or the collection's own name. */
  readonly provider: string
  readonly source: Source
  readonly collection: SourceCollection
}

export function publicCollections({ sources }: Vendors): PublicCollection[] {
  return sources
    .filter(({ accessModel, renderStrategy }) => accessModel === 'open' && renderStrategy === 'cog')
    .flatMap((source) =>
      source.collections
        .filter(({ assets }) => assets.length > 0)
        .map((collection) => ({ provider: collection.publicProvider ?? collection.id, source, collection })),
    )
}

/** By the name of the provider or the collection. Commercial collections are unknown here, like any other name. */
export function requirePublic(vendors: Vendors, name: { provider?: string | null; collection?: string }): PublicCollection {
  const all = publicCollections(vendors)
  const imagery = all.find(
    ({ provider, collection }) =>
      (name.provider == null || name.provider === provider || name.provider === collection.id) &&
      (name.collection === undefined || name.collection === collection.id || name.collection === provider),
  )
  if (imagery) return imagery
  const known = [...new Set(all.map(({ provider }) => provider))]
  throw problem('not-found', `Unknown public imagery. Known providers: ${known.join(', ') || 'none'}`, {
    members: { known_providers: known },
  })
}

interface PublicScene {
  readonly imagery: PublicCollection
  readonly scene: Scene
  readonly url: string
  readonly info: RasterInfo
  readonly names: ReturnType<typeof bandNames>
}

/** The file of a scene, opened. */
export async function openScene(
  context: Pick<Context, 'vendors' | 'raster' | 'signal'>,
  imagery: PublicCollection,
  id: string,
): Promise<PublicScene> {
  const scene = await context.vendors.scene(imagery.source.hostName, imagery.collection.id, id)
  if (!scene) throw notFound('scene')
  const asset = imagery.collection.assets
    .map((key) => (Object.hasOwn(scene.assets, key) ? scene.assets[key] : undefined))
    .find((candidate) => candidate !== undefined)
  if (!asset) throw invalidField('scene_id', 'has no file that tiles can be rendered from')
  const info = await context.raster.describe({ url: asset.href }, context.signal)
  const names = imagery.collection.bands.map(({ name, role }) => role ?? name)
  return { imagery, scene, url: asset.href, info, names: bandNames(info, names) }
}

/** Minimum side of the overview that statistics are read from. */
const STATISTICS_SIDE_PX = 160

export async function infoOf(context: Pick<Context, 'raster' | 'signal'>, { imagery, scene, url, info }: PublicScene) {
  const { bounds, minZoom, maxZoom } = coverageOf(info)
  const { bands: statistics } = await context.raster.statistics(
    { url },
    { minSidePx: STATISTICS_SIDE_PX, percentiles: [2, 98], binCount: 1 },
    context.signal,
  )
  return {
    scene_id: scene.id,
    provider: imagery.provider,
    collection: imagery.collection.id,
    datetime: scene.datetime,
    cloud_cover: scene.cloudCover,
    bounds: [...bounds],
    bands: info.bands.map(({ name }, index) => ({
      index: index + 1,
      name: imagery.collection.bands[index]?.name ?? name ?? `b${index + 1}`,
      role: imagery.collection.bands[index]?.role ?? null,
    })),
    min_zoom: minZoom,
    max_zoom: maxZoom,
    width: info.width,
    height: info.height,
    data_type: info.dataType,
    statistics: statistics.map(({ min, max, mean, std, percentiles: [p2 = null, p98 = null], validFraction }) => ({
      min,
      max,
      mean,
      std,
      p2,
      p98,
      valid_fraction: validFraction,
    })),
    attribution: imagery.source.attribution,
  }
}

/** The visualizations of a collection's scenes, derived without opening a scene. */
export function visualizationsFor({ collection, source }: PublicCollection, baseUrl: string) {
  const bandRoles = Object.fromEntries(collection.bands.map(({ name, role }, index) => [role ?? name, index + 1]))
  const { visualizations, default_id } = listVisualizations({ bandRoles, dataType: collection.dataType })
  return {
    visualizations: visualizations.map(({ id, label, kind, bands, expression, colormap, rescale, description }) => ({
      id,
      label,
      kind: kind === 'single' ? ('raw' as const) : kind,
      bands,
      expression,
      colormap,
      rescale,
      description,
    })),
    default_id,
    tile_template: `${baseUrl}/api/v1/catalog/${collection.id}/{scene_id}/tiles/{z}/{x}/{y}.webp?visualization={visualization}`,
    attribution: source.attribution,
  }
}
