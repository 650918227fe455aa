import Type from 'typebox'
import { requireBaseUrl } from '#core/base-url.ts'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import * as assets from '#model/imagery/asset.ts'
import * as items from '#model/imagery/item-read.ts'
import { toFeature } from '#model/imagery/stac.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_ITEM } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'
import { EXAMPLE_FEATURE, LinkKey, StacBaseUrl, StacFeature } from '#wire/stac.ts'

/** One item as a STAC item with its assets, and with catalogue links if `base_url` is sent. */
export default operation({
  id: 'items.get_stac',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  mediaType: 'application/geo+json',
  input: Closed({
    item_id: Described(ItemId, 'Item ID'),
    base_url: Type.Optional(Nullable(StacBaseUrl)),
    key: Type.Optional(Nullable(LinkKey)),
  }),
  output: StacFeature,
  example: { input: { item_id: EXAMPLE_ITEM.id, base_url: 'https://imagery.example' }, output: EXAMPLE_FEATURE },
}).handle({
  async check({ db, principal }, { item_id, base_url }) {
    const linkBase = base_url == null ? null : requireBaseUrl(base_url)
    const { item } = await items.requireReaderOfStac(db, principal, item_id)
    return { linkBase, item }
  },
  async execute({ db, baseUrl }, { key }, { item, linkBase }) {
    const rows = await assets.list(db, item.seq)
    return toFeature(item, rows, { baseUrl: linkBase ?? baseUrl, links: linkBase === null ? 'none' : 'all', key: key ?? null })
  },
})
