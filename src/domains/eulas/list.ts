import Type from 'typebox'
import { Choice, Closed, Nullable, Defaulted } from '#core/shapes.ts'
import * as organizations from '#model/identity/organization.ts'
import { acceptances } from '#model/licensing/licence.ts'
import { operation } from '#operation.ts'
import { pageFields, PageOf, pageOf } from '#wire/page.ts'
import { EulaRecord, EXAMPLE_EULA, toEula } from './wire.ts'

/** Licence agreements of the data products for sale, with whether the organization has accepted them. */
export default operation({
  id: 'eulas.list',
  scope: 'eulas:read',
  tier: 'read',
  input: Closed({
    term: Type.Optional(Nullable(Type.String({ maxLength: 200, description: 'Only licences with this text in their name' }))),
    ...pageFields(20),
    sort: Defaulted(Choice(['createdAt,desc', 'createdAt,asc', 'name,asc', 'name,desc']), 'createdAt,desc', {
      description: 'Sort field (`createdAt` or `name`) and direction',
    }),
  }),
  output: PageOf(EulaRecord, 'Licences'),
  example: { input: { term: 'analysis' }, output: { content: [EXAMPLE_EULA], page: 0, size: 20, totalElements: 1, totalPages: 1 } },
}).handle({
  check: async ({ principal }) => organizations.requireOrganization(principal),
  async execute({ db, vendors }, { term, page, size, sort }, organizationId) {
    const text = (term ?? '').toLowerCase()
    const [field, direction] = sort.split(',') as ['createdAt' | 'name', 'asc' | 'desc']
    const licences = vendors.licences
      .filter(({ name }) => name.toLowerCase().includes(text))
      .toSorted((a, b) => a[field].localeCompare(b[field]) * (direction === 'asc' ? 1 : -1) || a.id.localeCompare(b.id))
    const accepted = await acceptances(db, organizationId)
    return pageOf(
      licences.map((licence) => toEula(vendors, licence, accepted)),
      { page, size },
    )
  },
})
