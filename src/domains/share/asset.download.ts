import { accessDenied, notFound } from '#core/problem.ts'
import { Closed, Described, Uuid } from '#core/shapes.ts'
import * as assets from '#model/imagery/asset.ts'
import { requireDownloadable } from '#model/imagery/item-window.ts'
import * as downloadQuotas from '#model/plans/download-quota.ts'
import * as shareTargets from '#model/sharing/share-target.ts'
import { operation } from '#operation.ts'
import { DOWNLOAD_SECONDS } from './target.lib.ts'
import { EXAMPLE_PASSWORD, EXAMPLE_TOKEN, Password, Token } from './wire.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'
import { AssetDownload } from '#wire/asset-download.ts'

const EXAMPLE_ASSET = EXAMPLE_IDS.asset

/**
 * Returns a download URL for a file of a shared item, valid for 15 minutes, if the link has the permission `download`. The
 * bytes count as egress of the sharing organization as they are transferred.
 */
export default operation({
  id: 'share.asset.download',
  scope: 'shares:read',
  tier: 'share_export',
  public: true,
  input: Closed({
    token: Token,
    password: Described(Password, 'Password of the share link'),
    asset_id: Described(Uuid, 'Asset ID'),
  }),
  output: AssetDownload,
  example: {
    input: { token: EXAMPLE_TOKEN, password: EXAMPLE_PASSWORD, asset_id: EXAMPLE_ASSET },
    output: {
      url: 'https://store.imagery.example/svc-0199f2c4/scene.tif?expires=1772358300&signature=…',
      expires_in_seconds: DOWNLOAD_SECONDS,
      asset_id: EXAMPLE_ASSET,
      size_bytes: 734_003_200,
      media_type: 'image/tiff',
    },
  },
}).handle({
  async check({ db, shares, raster, clock }, { token, password, asset_id }) {
    const { link, scope } = await shares.open(token, password ?? '')
    const isOther = scope.kind === 'asset' && scope.assetId !== asset_id.toLowerCase()
    if (link.permission !== 'download' || isOther || scope.kind === 'item' || scope.kind === 'layer') throw accessDenied()
    const shared = await shareTargets.findAsset(db, link, asset_id)
    if (!shared) throw notFound('asset')
    await requireDownloadable(db, shared.item, clock.now())
    assets.requireReachable(shared.asset, raster)
    await downloadQuotas.requirePaid(db, link.organizationId)
    return { link, ...shared }
  },
  async prepare({ storage }, _input, { link, asset: file, itemName }) {
    if (file.objectKey === null) return file.href!
    const { bucket, objectKey: key, mediaType } = file
    return await storage.signGet({
      bucket: bucket!,
      key,
      fileName: assets.fileNameOf(file, itemName),
      ...(mediaType ? { contentType: mediaType } : {}),
      countFor: link.organizationId,
      expiresInSeconds: DOWNLOAD_SECONDS,
    })
  },
  async execute({ tx, principal, clock, storage, invocationId, usage, attributeTo }, _input, { link, asset: file, itemId }, url) {
    attributeTo(link.organizationId)
    const bytes = file.objectKey === null ? 0 : file.fileSizeBytes!
    await downloadQuotas.start(
      tx,
      { organizationId: link.organizationId, principal, invocationId, now: clock.now() },
      [{ kind: 'share', itemId, assetId: file.id, bytes }],
      storage,
    )
    usage.touch(file.itemSeq)
    return { url, expires_in_seconds: DOWNLOAD_SECONDS, asset_id: file.id, size_bytes: file.fileSizeBytes, media_type: file.mediaType }
  },
})
