import Type from 'typebox'
import { requireBaseUrl } from '#core/base-url.ts'
import { isUuid } from '#core/ids.ts'
import { Closed, Nullable } from '#core/shapes.ts'
import * as collections from '#model/imagery/collection.ts'
import { STAC_VERSION, withKey } from '#core/stac.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'
import { LinkKey, StacBaseUrl, StacLink } from '#wire/stac.ts'

const StacCollection = Closed(
  {
    type: Type.Literal('Collection', { description: 'STAC type, always `Collection`' }),
    stac_version: Type.Literal(STAC_VERSION, { description: 'STAC version' }),
    stac_extensions: Type.Array(Type.String(), { description: 'STAC extension schema URLs' }),
    id: Type.String({ description: 'Collection ID' }),
    title: Type.String({ description: 'Collection title' }),
    description: Type.String({ description: 'Collection description, or its name' }),
    license: Type.Literal('proprietary', { description: 'Licence of the items' }),
    extent: Closed(
      {
        spatial: Closed(
          {
            bbox: Type.Array(Type.Array(Type.Number()), {
              description: 'Bounding boxes as west, south, east, north in degrees; the first covers all items',
            }),
          },
          { description: 'Spatial extent' },
        ),
        temporal: Closed(
          {
            interval: Type.Array(Type.Array(Nullable(Type.String())), {
              description: 'Time intervals as start and end, which can be open',
            }),
          },
          { description: 'Temporal extent' },
        ),
      },
      { description: 'Spatial and temporal extent of the items' },
    ),
    links: Type.Array(StacLink, { description: 'Links to related resources' }),
  },
  { $id: 'StacCollection', description: 'A STAC collection' },
)

type Described = Pick<collections.Collection, 'id' | 'name' | 'description'>
const EXAMPLE: Described = { id: EXAMPLE_IDS.collection, name: 'Reef', description: null }

/** Lists the organization's collections that the caller can read, as minimal STAC collections. */
export default operation({
  id: 'stac.collections.list',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    base_url: Type.Optional(StacBaseUrl),
    ids: Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 100, description: 'Only collections with these IDs' })),
    key: Type.Optional(Nullable(LinkKey)),
  }),
  output: Closed({
    collections: Type.Array(StacCollection, { description: 'STAC collections' }),
    links: Type.Array(StacLink, { description: 'Links to related resources' }),
  }),
  example: { input: {}, output: { collections: [toCollection(EXAMPLE, 'https://imagery.example', null)], links: [] } },
}).handle({
  async check({ db, principal }, { base_url }) {
    const organizationId = requireOrganization(principal)
    const address = base_url === undefined ? null : requireBaseUrl(base_url)
    return { organizationId, address, hiddenProjectIds: await projects.hiddenFrom(db, principal) }
  },
  async execute({ db, baseUrl }, { ids, key }, { organizationId, address, hiddenProjectIds }) {
    const base = address ?? baseUrl
    const rows = await collections.listOfOrganization(db, { organizationId, hiddenProjectIds, ids: ids?.filter(isUuid) ?? null })
    return {
      collections: rows.map((collection) => toCollection(collection, base, key)),
      links: [
        { rel: 'self', href: withKey(`${base}/stac/collections`, key), type: 'application/json' },
        { rel: 'root', href: withKey(`${base}/stac`, key), type: 'application/json' },
      ],
    }
  },
})

function toCollection({ id, name, description }: Described, baseUrl: string, key: string | null | undefined) {
  const root = `${baseUrl}/stac`
  const self = `${root}/collections/${id}`
  return {
    type: 'Collection' as const,
    stac_version: STAC_VERSION as typeof STAC_VERSION,
    stac_extensions: [],
    id,
    title: name,
    description: description || name,
    license: 'proprietary' as const,
    extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[null, null]] } },
    links: [
      { rel: 'self', href: withKey(self, key), type: 'application/json' },
      { rel: 'root', href: withKey(root, key), type: 'application/json' },
      { rel: 'parent', href: withKey(root, key), type: 'application/json' },
      { rel: 'items', href: withKey(`${self}/items`, key), type: 'application/geo+json' },
    ],
  }
}
