import { Closed, Described } from '#core/shapes.ts'
import * as assets from '#model/imagery/asset.ts'
import * as downloadQuotas from '#model/plans/download-quota.ts'
import * as items from '#model/imagery/item-read.ts'
import { requireDownloadable } from '#model/imagery/item-window.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_ASSET, EXAMPLE_ITEM } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'
import { AssetDownload } from '#wire/asset-download.ts'

const VALID_SECONDS = 900

/**
 * A URL to download one file of an item, valid for 15 minutes. `asset_id` is the asset's ID or its key. For a file by reference, it
 * is the file's own URL if that is on an allowed host, otherwise 400; such downloads do not count against the plan.
 */
export default operation({
  id: 'items.asset.download',
  scope: 'items:read',
  tier: 'share_export',
  input: Closed({ item_id: Described(ItemId, 'Item ID'), asset_id: Described(ItemId, 'Asset ID or asset key') }),
  output: AssetDownload,
  example: {
    input: { item_id: EXAMPLE_ITEM.id, asset_id: EXAMPLE_ASSET.id },
    output: {
      url: 'https://store.imagery.example/svc-0199f2c4/S2B_55KFA_20260214_0_L2A.tif?expires=1772358300&signature=…',
      expires_in_seconds: VALID_SECONDS,
      asset_id: EXAMPLE_ASSET.id,
      size_bytes: 734_003_200,
      media_type: EXAMPLE_ASSET.media_type,
    },
  },
}).handle({
  async check({ db, principal, raster, clock }, { item_id, asset_id }) {
    const { item } = await items.requireReaderEvenDeleted(db, principal, item_id)
    const asset = await assets.requireNamed(db, item.seq, asset_id)
    await requireDownloadable(db, item, clock.now())
    assets.requireReachable(asset, raster)
    await downloadQuotas.requirePaid(db, item.organizationId)
    return { item, asset }
  },
  /** Signing stores nothing, so a URL can be discarded if the call is rejected afterwards. */
  async prepare({ storage }, _input, { item, asset }) {
    const { bucket, objectKey, href, mediaType } = asset
    if (objectKey === null) return href!
    return await storage.signGet({
      bucket: bucket!,
      key: objectKey,
      fileName: assets.fileNameOf({ ...asset, objectKey }, item.name),
      ...(mediaType ? { contentType: mediaType } : {}),
      countFor: item.organizationId,
      expiresInSeconds: VALID_SECONDS,
    })
  },
  async execute({ tx, principal, clock, storage, invocationId, usage, attributeTo }, _input, { item, asset }, url) {
    attributeTo(item.organizationId)
    const bytes = asset.objectKey === null ? 0 : asset.fileSizeBytes!
    await downloadQuotas.start(
      tx,
      { organizationId: item.organizationId, principal, invocationId, now: clock.now() },
      [{ kind: 'asset', itemId: item.id, assetId: asset.id, bytes }],
      storage,
    )
    usage.touch(item.seq)
    return { url, expires_in_seconds: VALID_SECONDS, asset_id: asset.id, size_bytes: asset.fileSizeBytes, media_type: asset.mediaType }
  },
})
