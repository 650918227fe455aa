import Type from 'typebox'
import { Choice, Closed, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { pageFields, PageOf, pageOf } from '#wire/page.ts'
import { EXAMPLE_PROVIDER, ProviderRecord, toProvider } from './wire.ts'

/** Producers and hosts of imagery. */
export default operation({
  id: 'glossary.providers.list',
  scope: 'catalog:read',
  tier: 'read',
  input: Closed({
    ...pageFields(10),
    sort: Type.Optional(
      Nullable(
        Choice(['name,asc', 'name,desc', 'title,asc', 'title,desc'], { description: 'Sort field and direction; defaults to the name' }),
      ),
    ),
    role: Type.Optional(Nullable(Choice(['PRODUCER', 'HOST'], { description: 'Only providers with this role' }))),
  }),
  output: PageOf(ProviderRecord, 'Providers'),
  example: { input: { role: 'HOST' }, output: { content: [EXAMPLE_PROVIDER], page: 0, size: 10, totalElements: 1, totalPages: 1 } },
}).handle({
  async execute({ vendors }, { page, size, sort, role }) {
    const [field, direction] = (sort ?? 'name,asc').split(',') as ['name' | 'title', 'asc' | 'desc']
    const providers = vendors.providers
      .filter(({ roles }) => role == null || roles.includes(role))
      .toSorted((a, b) => a[field].localeCompare(b[field]) * (direction === 'asc' ? 1 : -1))
    return pageOf(
      providers.map((provider) => toProvider(vendors, provider)),
      { page, size },
    )
  },
})
