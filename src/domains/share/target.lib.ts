import { GRANT_SECONDS } from '#wire/share.ts'
import type { OpenedShare } from '#context.ts'
import * as asset from '#model/imagery/asset.ts'
import * as itemLayers from '#model/imagery/item-layer.ts'
import type { Item } from '#model/imagery/item-read.ts'
import * as profile from '#model/imagery/visualization-profile.ts'
import type { SharedTarget } from '#model/sharing/share-target.ts'
import type { Context } from '#operation.ts'
import { RasterError } from '#raster/errors.ts'
import { choiceOf, resolveLook } from '#services/drawing/look.ts'
import { offered, type Offered } from '#services/drawing/offered.ts'

/** How long a grant for a download lives. */
export const DOWNLOAD_SECONDS = 900

type Looking = Pick<Context, 'db' | 'raster' | 'shares' | 'signal'>
type Reading = Looking & Pick<Context, 'baseUrl'>

export async function toTarget(context: Reading, share: OpenedShare, target: SharedTarget) {
  const { grant, expiresAt } = await share.sign({ kind: 'link' }, GRANT_SECONDS)
  const session = { grant, grant_expires_at: expiresAt.toISOString(), link_expires_at: share.link.expiresAt.toISOString() }
  if (target.type === 'item') {
    const { item } = target
    return {
      ...(await toItem(context, share, {
        item,
        grant,
        assets: await context.shares.limit(() => asset.list(context.db, item.seq)),
        visualizations: await looksOf(context, item.seq),
      })),
      ...session,
    }
  }
  const { id, name, description } = target.collection
  return { id, name, description, items: await toItems(context, share, target.items), item_count: target.total, ...session }
}

/** A hundred files are not opened for one answer: the TileJSON of an item says what else follows from its bands. */
async function toItems(context: Reading, share: OpenedShare, items: readonly Item[]) {
  const seqs = items.map(({ seq }) => seq)
  const [assets, profiles] = await context.shares.limit(async () => [
    await asset.listOf(context.db, seqs),
    await profile.listOf(context.db, seqs),
  ])
  return await Promise.all(
    items.map(async (item) => {
      const { grant } = await share.sign({ kind: 'item', itemSeq: item.seq }, GRANT_SECONDS)
      return await toItem(context, share, {
        item,
        grant,
        assets: assets.get(item.seq)!,
        visualizations: offered(profiles.get(item.seq)!, null),
      })
    }),
  )
}

async function toItem(
  { baseUrl }: Reading,
  share: OpenedShare,
  { item, grant, assets, visualizations }: { item: Item; grant: string; assets: readonly asset.Asset[]; visualizations: Offered[] },
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
    tilejson: assets.some(isDrawable) ? `${baseUrl}/api/v1/share/tilejson.json?grant=${grant}` : null,
    ...(share.link.permission === 'download'
      ? { assets: await Promise.all(assets.map((each) => toFile(baseUrl, share, each, item.name))) }
      : {}),
  }
}

/** In the words of STAC: `attribution` as it stands, or the names of `providers`; and `license`. */
function attributionOf(properties: Readonly<Record<string, unknown>>): string | null {
  const { attribution, providers, license } = properties
  const names = Array.isArray(providers) ? providers.map((each: unknown) => (each as { name?: unknown } | null)?.name) : []
  const parts = [...(typeof attribution === 'string' ? [attribution] : names), license].filter(
    (part): part is string => typeof part === 'string' && part.trim() !== '',
  )
  return parts.length > 0 ? parts.join(' · ').slice(0, MAX_ATTRIBUTION) : null
}

const MAX_ATTRIBUTION = 500

const isDrawable = ({ mediaType }: asset.Asset): boolean => mediaType === null || /^image\/(tiff|vnd\.stac\.geotiff)/.test(mediaType)

/** Saved looks are known in any case; those that follow from the bands only if the file can be read just now. */
export async function looksOf(context: Looking, itemSeq: number): Promise<Offered[]> {
  const profiles = await context.shares.limit(() => profile.list(context.db, itemSeq))
  return offered(profiles, await lookAt(context, itemSeq))
}

async function lookAt({ db, raster, shares, signal }: Looking, itemSeq: number) {
  try {
    // Not the file: a slow host keeps nobody else waiting.
    const layer = await shares.limit(() => itemLayers.find(db, itemSeq, choiceOf({})))
    if (!layer) return null
    const { info } = await resolveLook({ raster, signal }, layer, {})
    return { info, asset: layer.asset }
  } catch (error) {
    if (error instanceof RasterError || (error as { status?: number }).status === 400) return null
    throw error
  }
}

async function toFile(baseUrl: string, share: OpenedShare, file: asset.Asset, itemName: string) {
  const { grant, expiresAt } = await share.sign({ kind: 'asset', assetId: file.id }, DOWNLOAD_SECONDS)
  return {
    id: file.id,
    key: file.key,
    title: file.title,
    media_type: file.mediaType,
    file_name: asset.fileNameOf(file, itemName),
    file_size_bytes: file.fileSizeBytes,
    url: `${baseUrl}/api/v1/share/assets/${file.id}?grant=${grant}`,
    url_expires_at: expiresAt.toISOString(),
  }
}
