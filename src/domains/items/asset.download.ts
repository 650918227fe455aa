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
 * An address at which one file of an item can be downloaded for 15 minutes. `asset_id` is the asset's id or its key. What
 * lies elsewhere is answered with its own address where that is on a host this service reads from, and with 400 that names it
 * otherwise; those bytes are not ours, so they count for nothing.
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
    const found = await items.requireReaderEvenDeleted(db, principal, item_id)
    const wanted = await assets.requireNamed(db, found.item.seq, asset_id)
    await requireDownloadable(db, found.item, clock.now())
    assets.requireReachable(wanted, raster)
    await downloadQuotas.requirePaid(db, found.item.organizationId)
    return { item: found.item, asset: wanted }
  },
  /** Signing takes no room anywhere: an address that is refused afterwards is thrown away. */
  async prepare({ storage }, _input, { item: of, asset: { bucket, objectKey, href, mediaType, ...wanted } }) {
    if (objectKey === null) return href!
    return await storage.signGet({
      bucket: bucket!,
      key: objectKey,
      fileName: assets.fileNameOf({ ...wanted, mediaType, objectKey }, of.name),
      ...(mediaType ? { contentType: mediaType } : {}),
      countFor: of.organizationId,
      expiresInSeconds: VALID_SECONDS,
    })
  },
  async execute({ tx, principal, clock, storage, invocationId, usage, attributeTo }, _input, { item: of, asset: wanted }, url) {
    attributeTo(of.organizationId)
    const bytes = wanted.objectKey === null ? 0 : wanted.fileSizeBytes!
    await downloadQuotas.start(
      tx,
      { organizationId: of.organizationId, principal, invocationId, now: clock.now() },
      [{ kind: 'asset', itemId: of.id, assetId: wanted.id, bytes }],
      storage,
    )
    usage.touch(of.seq)
    return { url, expires_in_seconds: VALID_SECONDS, asset_id: wanted.id, size_bytes: wanted.fileSizeBytes, media_type: wanted.mediaType }
  },
})
