import { Choice, Closed, Defaulted } from '#core/shapes.ts'
import * as organizations from '#model/identity/organization.ts'
import { acceptances } from '#model/licensing/licence.ts'
import { operation } from '#operation.ts'
import { pageFields, PageOf, pageOf } from '#wire/page.ts'
import { DocumentEntry, EulaId, EXAMPLE_ENTRY, EXAMPLE_EULA, requireEula, toEntry } from './wire.ts'

/** The versions of a licence agreement's text. */
export default operation({
  id: 'eulas.documents.list',
  scope: 'eulas:read',
  tier: 'read',
  input: Closed({
    eula_id: EulaId,
    ...pageFields(20),
    sort: Defaulted(Choice(['validFrom,desc', 'validFrom,asc']), 'validFrom,desc', { description: 'Sort order by `validFrom`' }),
  }),
  output: PageOf(DocumentEntry, 'Licence documents'),
  example: {
    input: { eula_id: EXAMPLE_EULA.id },
    output: { content: [EXAMPLE_ENTRY], page: 0, size: 20, totalElements: 1, totalPages: 1 },
  },
}).handle({
  async check({ principal, vendors }, { eula_id }) {
    return { organizationId: organizations.requireOrganization(principal), licence: requireEula(vendors, eula_id) }
  },
  async execute({ db }, { page, size, sort }, { organizationId, licence }) {
    const accepted = await acceptances(db, organizationId)
    const factor = sort === 'validFrom,asc' ? 1 : -1
    const documents = licence.documents.toSorted((a, b) => a.validFrom.localeCompare(b.validFrom) * factor)
    return pageOf(
      documents.map((document) => toEntry(licence, document, accepted)),
      { page, size },
    )
  },
})
