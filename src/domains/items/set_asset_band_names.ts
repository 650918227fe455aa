import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { Closed, Described } from '#core/shapes.ts'
import * as assets from '#model/imagery/asset.ts'
import * as items from '#model/imagery/item-read.ts'
import * as itemWrite from '#model/imagery/item-write.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { AssetRecord, EXAMPLE_ASSET, EXAMPLE_ITEM, toAsset } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

const MAX_BANDS = 64

/** Names the bands of one asset, for use in expressions and visualizations. */
export default operation({
  id: 'items.set_asset_band_names',
  scope: 'items:write',
  tier: 'compute',
  events: ['item.updated'],
  input: Closed({
    item_id: Described(ItemId, 'Item ID'),
    asset_id: Described(ItemId, 'Asset ID or asset key'),
    band_names: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      minItems: 1,
      maxItems: MAX_BANDS,
      description: 'Name of each band, in order',
    }),
  }),
  output: AssetRecord,
  example: {
    input: { item_id: EXAMPLE_ITEM.id, asset_id: EXAMPLE_ASSET.id, band_names: ['blue', 'green', 'red', 'nir'] },
    output: { ...EXAMPLE_ASSET, band_names: ['blue', 'green', 'red', 'nir'] },
  },
}).handle({
  async check({ db, principal, raster, signal }, { item_id, asset_id, band_names }) {
    const { item, project } = await items.requireEditor(db, principal, item_id)
    const asset = await assets.requireNamed(db, item.seq, asset_id)
    if (new Set(band_names).size < band_names.length) throw invalidField('band_names', 'must not have the same name twice')
    const known = assets.statedBands(asset)?.length ?? asset.bandNames?.length
    const count = await raster.describe(assets.rasterSourceOf(asset), signal).then(
      (info) => info.bandCount,
      (error: unknown) => {
        if (known === undefined) throw error
        return known
      },
    )
    if (band_names.length !== count)
      throw invalidField('band_names', `must have one name for each of the ${count} bands, not ${band_names.length}`)
    return { item, project, assetId: asset.id }
  },
  async execute({ tx, clock, baseUrl, events, attributeTo }, { band_names }, { item, project, assetId }) {
    attributeTo(project.organizationId)
    const now = clock.now()
    await projects.lock(tx, project.id)
    const current = await items.lock(tx, item.seq)
    const { asset, isChanged } = await assets.setBandNames(tx, current.seq, assetId, band_names, now)
    if (isChanged) {
      await itemWrite.markUpdated(tx, current.seq, now)
      events.emit('item.updated', current.id, { ...items.summary(current, current.lifecycleState), changed_fields: ['assets'] })
    }
    return toAsset(asset, current.id, baseUrl)
  },
})
