import Type from 'typebox'
import { Choice, Closed, Described, Nullable } from '#core/shapes.ts'
import * as assets from '#model/imagery/asset.ts'
import * as itemLayers from '#model/imagery/item-layer.ts'
import * as items from '#model/imagery/item-read.ts'
import { operation } from '#operation.ts'
import { normalizeRoles } from '#raster/formulas/roles.ts'
import { proposeBands } from '#raster/formulas/propose.ts'
import { EXAMPLE_ASSET, EXAMPLE_ITEM } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

/**
 * Reads a raster and suggests what its bands are. `source` is where that comes from: the band names in the file, the STAC
 * metadata it was registered with, the colours that the file declares, or only the number of bands. Nothing is stored;
 * `items.set_asset_band_names` does that. Defaults to the item's primary asset; if its bands are in several files, to all of them.
 */
export default operation({
  id: 'items.detect_asset_bands',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({ item_id: Described(ItemId, 'Item ID'), asset_id: Described(Type.Optional(Nullable(ItemId)), 'Asset ID or asset key') }),
  output: Closed(
    {
      bands: Type.Array(
        Closed({
          index: Type.Integer({ description: '1-based band number' }),
          name: Type.String({ description: 'Band name' }),
          role: Described(Nullable(Type.String()), 'Band role used in formulas, such as `RED`; null if it has none'),
          data_type: Described(Nullable(Type.String()), 'Pixel data type; null if unknown'),
        }),
        { description: 'Detected bands' },
      ),
      source: Choice(['file', 'stac', 'color', 'band_count'], { description: 'Where the bands were read from' }),
      suggested_band_names: Type.Array(Type.String(), { description: 'Suggested band names' }),
      current_band_names: Type.Array(Type.String(), { description: 'Stored band names' }),
      method: Type.String({ description: 'Same as `source`' }),
    },
    { description: 'Detected bands' },
  ),
  example: {
    input: { item_id: EXAMPLE_ITEM.id, asset_id: EXAMPLE_ASSET.id },
    output: {
      bands: [
        { index: 1, name: 'red', role: 'RED', data_type: 'uint16' },
        { index: 2, name: 'nir', role: 'NIR', data_type: 'uint16' },
      ],
      source: 'file',
      suggested_band_names: ['red', 'nir'],
      current_band_names: [],
      method: 'file',
    },
  },
}).handle({
  async check({ db, principal }, { item_id, asset_id }) {
    const { item } = await items.requireReader(db, principal, item_id)
    if (asset_id != null) return single(await assets.requireNamed(db, item.seq, asset_id))
    const layer = await itemLayers.find(db, item.seq, { assetKey: null, profile: null })
    return layer?.asset.stack ? stacked(layer.asset, layer.asset.stack) : single(await assets.requirePrimary(db, item.seq))
  },
  async execute({ raster, signal }, _input, { asset, stated }) {
    const described = await raster.describe(assets.rasterSourceOf(asset), signal).then(
      (info) => ({ info, error: null }),
      (error: unknown) => ({ info: null, error }),
    )
    const proposed = proposeBands(described.info, stated)
    if (!proposed) throw described.error // Neither the file nor its metadata tells.
    const names = proposed.bands.map(({ name }) => name)
    return {
      bands: proposed.bands.map(({ index, name, role, dataType }) => ({ index, name, role, data_type: dataType })),
      source: proposed.source,
      suggested_band_names: names,
      current_band_names: asset.bandNames ?? [],
      method: proposed.source,
    }
  },
})

const single = (asset: assets.Asset) => ({ asset, stated: assets.statedBands(asset) })

/** The bands of several files, in the order in which tiles, expressions and statistics number them. */
function stacked(asset: itemLayers.Layer['asset'], files: readonly assets.StackAsset[]) {
  const stated = files.map(({ band: { name, aliases = [] } }) => {
    const commonName = [name, ...aliases].find((alias) => normalizeRoles({ [alias]: 1 }).size > 0) ?? name
    return { name, commonName, dataType: null }
  })
  return { asset, stated }
}
