import { GRANT_SECONDS } from '#wire/share.ts'
import type { OpenedShare } from '#context.ts'
import * as assets from '#model/imagery/asset.ts'
import { attributionOf, licenseOf } from '#model/imagery/attribution.ts'
import * as itemLayers from '#model/imagery/item-layer.ts'
import type { Item } from '#model/imagery/item-read.ts'
import * as profiles from '#model/imagery/visualization-profile.ts'
import type { SharedTarget } from '#model/sharing/share-target.ts'
import type { Context } from '#operation.ts'
import { RasterError } from '#raster/errors.ts'
import { choiceOf, styleLayer } from '#services/rendering/styled-layer.ts'
import { styleOptions, type StyleOption } from '#services/rendering/style-options.ts'

/** Lifetime of a grant for a download. */
export const DOWNLOAD_SECONDS = 900

type ShareContext = Pick<Context, 'db' | 'raster' | 'shares' | 'signal'>
type TargetContext = ShareContext & Pick<Context, 'baseUrl'>

export async function toTarget(context: TargetContext, share: OpenedShare, target: SharedTarget) {
  const { grant, expiresAt } = await share.sign({ kind: 'link' }, GRANT_SECONDS)
  const session = { grant, grant_expires_at: expiresAt.toISOString(), link_expires_at: share.link.expiresAt.toISOString() }
  if (target.type === 'item') {
    const { item } = target
    return {
      ...(await toItem(context, share, {
        item,
        grant,
        assets: await context.shares.limit(() => assets.list(context.db, item.seq)),
        visualizations: await styleOptionsOf(context, item.seq),
      })),
      ...session,
    }
  }
  if (target.type === 'map') return { ...(await toMap(context, share, target)), ...session }
  const { id, name, description } = target.collection
  const tilejson = share.link.isPublic ? tileJsonUrl(context.baseUrl, grant) : null
  return { id, name, description, items: await toItems(context, share, target.items), item_count: target.total, tilejson, ...session }
}

/** Only what can be shown: layers whose imagery has left the project are not there. Nothing names the item or its other styles. */
async function toMap(context: TargetContext, share: OpenedShare, { map, sources }: Extract<SharedTarget, { type: 'map' }>) {
  const { layers, groups, camera, annotations } = map.content
  const assetsByItem = await context.shares.limit(() =>
    assets.listOf(
      context.db,
      [...sources.items.values()].map(({ seq }) => seq),
    ),
  )
  const shown = await Promise.all(
    layers.map(async (layer) => {
      const { id, group_id, visible, opacity, blend, color, features } = layer
      const item = sources.items.get(layer.item_id ?? '') ?? null
      const collection = sources.collections.get(layer.collection_id ?? '') ?? null
      if (!item && !collection && !features) return []
      const isDrawn = collection !== null || (item !== null && assetsByItem.get(item.seq)!.some(isRaster))
      const { grant } = await share.sign({ kind: 'layer', layerId: id }, GRANT_SECONDS)
      return {
        id,
        name: layer.name ?? item?.name ?? collection?.name ?? 'Shapes',
        group_id,
        visible,
        opacity,
        blend,
        color,
        features: features && features.map((feature) => ({ name: feature.name, geometry: { ...feature.geometry } })),
        bbox: item?.bbox ?? null,
        datetime: item?.datetime?.toISOString() ?? null,
        attribution: item && attributionOf(item.properties),
        license: item ? licenseOf(item.properties) : NO_LICENSE,
        tilejson: isDrawn ? tileJsonUrl(context.baseUrl, grant) : null,
      }
    }),
  )
  return {
    id: map.id,
    name: map.name,
    description: map.description,
    layers: shown.flat(),
    tilejson: null,
    groups,
    camera,
    annotations: annotations.map((each) => ({ ...each, geometry: { ...each.geometry } })),
  }
}

const NO_LICENSE = { name: null, url: null }

/** Lists saved styles only, so that one response does not open a hundred files; an item's TileJSON adds the derived ones. */
async function toItems(context: TargetContext, share: OpenedShare, items: readonly Item[]) {
  const seqs = items.map(({ seq }) => seq)
  const [assetsByItem, profilesByItem] = await context.shares.limit(async () => [
    await assets.listOf(context.db, seqs),
    await profiles.listOf(context.db, seqs),
  ])
  return await Promise.all(
    items.map(async (item) => {
      const { grant } = await share.sign({ kind: 'item', itemSeq: item.seq }, GRANT_SECONDS)
      return await toItem(context, share, {
        item,
        grant,
        assets: assetsByItem.get(item.seq)!,
        visualizations: styleOptions(profilesByItem.get(item.seq)!, null),
      })
    }),
  )
}

async function toItem(
  { baseUrl }: TargetContext,
  share: OpenedShare,
  {
    item,
    grant,
    assets: files,
    visualizations,
  }: { item: Item; grant: string; assets: readonly assets.Asset[]; visualizations: StyleOption[] },
) {
  return {
    id: item.id,
    name: item.name,
    description: item.description,
    type: item.type,
    bbox: item.bbox,
    geometry: item.geometry,
    datetime: item.datetime?.toISOString() ?? null,
    cloud_cover: item.cloudCover,
    gsd: item.gsd,
    visualizations,
    attribution: attributionOf(item.properties),
    license: licenseOf(item.properties),
    tilejson: files.some(isRaster) ? tileJsonUrl(baseUrl, grant) : null,
    ...(share.link.permission === 'download'
      ? { assets: await Promise.all(files.map((file) => toFile(baseUrl, share, file, item.name))) }
      : {}),
  }
}

const tileJsonUrl = (baseUrl: string, grant: string): string => `${baseUrl}/api/v1/share/tilejson.json?grant=${grant}`

const isRaster = ({ mediaType }: assets.Asset): boolean => mediaType === null || /^image\/(tiff|vnd\.stac\.geotiff)/.test(mediaType)

/** Saved styles are always listed; derived styles only if the file can be read now. */
export async function styleOptionsOf(context: ShareContext, itemSeq: number): Promise<StyleOption[]> {
  const saved = await context.shares.limit(() => profiles.list(context.db, itemSeq))
  return styleOptions(saved, await readRaster(context, itemSeq))
}

async function readRaster({ db, raster, shares, signal }: ShareContext, itemSeq: number) {
  try {
    // Only the query is limited, not the read of the file: a slow host must not delay other visitors.
    const layer = await shares.limit(() => itemLayers.find(db, itemSeq, choiceOf({})))
    if (!layer) return null
    const { info } = await styleLayer({ raster, signal }, layer, {})
    return { info, asset: layer.asset }
  } catch (error) {
    if (error instanceof RasterError || (error as { status?: number }).status === 400) return null
    throw error
  }
}

async function toFile(baseUrl: string, share: OpenedShare, file: assets.Asset, itemName: string) {
  const { grant, expiresAt } = await share.sign({ kind: 'asset', assetId: file.id }, DOWNLOAD_SECONDS)
  return {
    id: file.id,
    key: file.key,
    title: file.title,
    media_type: file.mediaType,
    file_name: assets.fileNameOf(file, itemName),
    file_size_bytes: file.fileSizeBytes,
    url: `${baseUrl}/api/v1/share/assets/${file.id}?grant=${grant}`,
    url_expires_at: expiresAt.toISOString(),
  }
}
