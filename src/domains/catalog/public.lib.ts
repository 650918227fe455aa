/** Public imagery: open data with files that tiles can be rendered from. */
import { invalidField, notFound, problem } from '#core/problem.ts'
import { stackBands } from '#model/imagery/stack.ts'
import type { Context } from '#operation.ts'
import type { RasterSource, StackMember } from '#ports/raster.ts'
import { VendorError } from '#ports/vendors/call.ts'
import type { Scene } from '#ports/vendors/catalog.ts'
import type { Source, SourceCollection } from '#ports/vendors/source.ts'
import type { Vendors } from '#ports/vendors/vendors.ts'
import { listVisualizations } from '#raster/formulas/visualizations.ts'
import { bandNames } from '#raster/render/request.ts'
import { outlineStack } from '#raster/stack/info.ts'
import { termsOf, termsOfCollection } from '#services/scenes/terms.ts'
import type { RasterInfo } from '#raster/types.ts'
import { coverageOf } from '#raster/warp/coverage.ts'
import { bandStatistics } from '#services/rendering/band-statistics.ts'

interface PublicCollection {
  /** `landsat`, `naip`, `sentinel`, or the collection's own name. */
  readonly provider: string
  readonly source: Source
  readonly collection: SourceCollection
}

export function publicCollections({ sources }: Vendors): PublicCollection[] {
  return sources
    .filter(({ accessModel }) => accessModel === 'open')
    .flatMap((source) =>
      source.collections
        .filter(({ assets, renderStrategy }) => assets.length > 0 && renderStrategy === 'cog')
        .map((collection) => ({ provider: collection.publicProvider ?? collection.id, source, collection })),
    )
}

interface PublicName {
  readonly provider?: string | null
  readonly collection?: string
}

/**
 * By the name of the provider, its host or the collection; several hosts can have a collection of the same name.
 * Commercial collections are unknown here, like any other name.
 */
export function requirePublic(vendors: Vendors, name: PublicName): [PublicCollection, ...PublicCollection[]] {
  const all = publicCollections(vendors)
  const [first, ...others] = all.filter(
    ({ provider, collection, source }) =>
      (name.provider == null || [provider, collection.id, source.hostName].includes(name.provider)) &&
      (name.collection === undefined || [provider, collection.id].includes(name.collection)),
  )
  if (first) return [first, ...others]
  const known = [...new Set(all.map(({ provider }) => provider))]
  throw problem('not-found', `Unknown public imagery. Known providers: ${known.join(', ') || 'none'}`, {
    members: { known_providers: known },
  })
}

interface PublicScene {
  readonly imagery: PublicCollection
  readonly scene: Scene
  readonly source: RasterSource
  /** Of a stack, what the catalogue states: no file is open yet. */
  readonly info: RasterInfo
  readonly names: ReturnType<typeof bandNames>
}

/** The first of several collections that has a scene of this ID. A host that fails matters only if no other host has the scene. */
async function findScene({ vendors }: Pick<Context, 'vendors'>, candidates: readonly PublicCollection[], id: string) {
  let failure: unknown = null
  for (const imagery of candidates) {
    try {
      const scene = await vendors.scene(imagery.source.hostName, imagery.collection.id, id)
      if (scene) return { imagery, scene }
    } catch (error) {
      if (!(error instanceof VendorError)) throw error
      failure ??= error
    }
  }
  throw failure ?? notFound('scene')
}

/** The raster of a scene: its file, opened, or the files of its bands, of which each use opens those that it needs. */
export async function openScene(
  context: Pick<Context, 'vendors' | 'raster' | 'signal'>,
  candidates: readonly PublicCollection[],
  id: string,
): Promise<PublicScene> {
  const { imagery, scene } = await findScene(context, candidates, id)
  const stack = stackOf(imagery, scene)
  if (stack) {
    const info = outlineStack(stack)
    return { imagery, scene, source: { stack }, info, names: bandNames(info) }
  }
  const asset = imagery.collection.assets
    .map((key) => (Object.hasOwn(scene.assets, key) ? scene.assets[key] : undefined))
    .find((candidate) => candidate !== undefined)
  if (!asset) throw invalidField('scene_id', 'has no file that tiles can be rendered from')
  const info = await context.raster.describe({ url: asset.href }, context.signal)
  const names = imagery.collection.bands.map(({ name, role }) => role ?? name)
  return { imagery, scene, source: { url: asset.href }, info, names: bandNames(info, names) }
}

/** The bands of a collection that are in several files, in the collection's order; null if one file has them all. */
function stackOf({ collection }: PublicCollection, { assets, properties }: Scene): StackMember[] | null {
  const { bands } = collection
  if (new Set(bands.flatMap(({ asset }) => asset ?? [])).size < 2) return null
  const fileOf = (key: string | null) => (key !== null && Object.hasOwn(assets, key) ? assets[key] : undefined)
  if (!bands.some(({ asset }) => fileOf(asset))) return null
  const stated = stackBands(
    bands.map(({ name, asset }) => ({ key: asset ?? name, bandName: null, fields: fileOf(asset)?.fields ?? {} })),
    properties,
    collection.scale,
  )
  return bands.map(({ name, role, asset, ...registered }, index) => {
    const file = fileOf(asset)
    const band = stated[index]!
    const isScaled = band.scale !== undefined || band.offset !== undefined || collection.scale === 'none'
    const aliases = [registered.commonName, role, band.name, ...(band.aliases ?? [])].filter((alias) => alias !== null && alias !== name)
    return {
      ...present({ nodata: registered.nodata, ...(isScaled ? {} : { scale: registered.scale, offset: registered.offset }) }),
      ...band,
      name,
      aliases: [...new Set(aliases)] as string[],
      band: bands.slice(0, index).filter((other) => other.asset === asset).length + 1,
      source: { url: file?.href ?? '' },
      ...(file ? {} : { problem: `The scene has no asset '${asset ?? name}'; use other bands` }),
    }
  })
}

const present = (values: Readonly<Record<string, number | null>>): Record<string, number> =>
  Object.fromEntries(Object.entries(values).filter((entry): entry is [string, number] => entry[1] !== null))

/** Minimum side of the overview that statistics are read from. */
const STATISTICS_SIDE_PX = 160

const NO_STATISTICS = { min: null, max: null, mean: null, std: null, percentiles: [], validFraction: 0 }

export async function infoOf(context: Pick<Context, 'raster' | 'signal'>, { imagery, scene, source }: PublicScene) {
  const info = await context.raster.describe(source, context.signal)
  const { bounds, minZoom, maxZoom } = coverageOf(info)
  const statistics = await bandStatistics(context, source, { minSidePx: STATISTICS_SIDE_PX, percentiles: [2, 98], binCount: 1 })
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
    statistics: statistics
      .map((band) => band ?? NO_STATISTICS)
      .map(({ min, max, mean, std, percentiles: [p2 = null, p98 = null], validFraction }) => ({
        min,
        max,
        mean,
        std,
        p2,
        p98,
        valid_fraction: validFraction,
      })),
    attribution: termsOf(imagery.source, scene).attribution,
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
    attribution: termsOfCollection(source, collection).attribution,
  }
}
