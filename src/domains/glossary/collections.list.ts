import Type from 'typebox'
import { Choice, Closed, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { pageFields, PageOf, pageOf } from '#wire/page.ts'
import { CollectionRecord, entriesOf, EXAMPLE_COLLECTION, integrationsOf, toCollection } from './wire.ts'

/** Collections of imagery that can be searched, ordered or tasked, with their providers and products. */
export default operation({
  id: 'glossary.collections.list',
  scope: 'catalog:read',
  tier: 'read',
  input: Closed({
    integrations: Type.Optional(
      Nullable(Type.String({ maxLength: 500, description: 'Only collections with all of these integrations, separated by commas' })),
    ),
    type: Type.Optional(
      Nullable(Choice(['ARCHIVE', 'TASKING'], { description: 'Whether to list existing (`ARCHIVE`) or new imagery (`TASKING`)' })),
    ),
    ...pageFields(10),
    sort: Type.Optional(
      Nullable(
        Choice(['name,asc', 'name,desc', 'title,asc', 'title,desc'], { description: 'Sort field and direction; defaults to the name' }),
      ),
    ),
  }),
  output: PageOf(CollectionRecord, 'Collections'),
  example: { input: { type: 'ARCHIVE' }, output: { content: [EXAMPLE_COLLECTION], page: 0, size: 10, totalElements: 1, totalPages: 1 } },
}).handle({
  async execute({ vendors }, { integrations, type, page, size, sort }) {
    const required = (integrations ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean)
    const [field, direction] = (sort ?? 'name,asc').split(',') as ['name' | 'title', 'asc' | 'desc']
    const records = entriesOf(vendors)
      .filter((entry) => (type == null || entry.type === type) && required.every((name) => integrationsOf(entry).includes(name)))
      .map((entry) => toCollection(vendors, entry))
      .toSorted((a, b) => a[field].localeCompare(b[field]) * (direction === 'asc' ? 1 : -1))
    return pageOf(records, { page, size })
  },
})
