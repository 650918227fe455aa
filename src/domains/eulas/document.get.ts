import { Closed } from '#core/shapes.ts'
import * as organizations from '#model/identity/organization.ts'
import { acceptances } from '#model/licensing/licence.ts'
import { operation } from '#operation.ts'
import { DocumentId, DocumentRecord, EulaId, EXAMPLE_DOCUMENT, requireDocument, toDocument } from './wire.ts'

/** The text of one version of a licence agreement. */
export default operation({
  id: 'eulas.document.get',
  scope: 'eulas:read',
  tier: 'read',
  input: Closed({ eula_id: EulaId, document_id: DocumentId }),
  output: DocumentRecord,
  example: { input: { eula_id: EXAMPLE_DOCUMENT.eula_id, document_id: EXAMPLE_DOCUMENT.id }, output: EXAMPLE_DOCUMENT },
}).handle({
  async check({ principal, vendors }, { eula_id, document_id }) {
    return { organizationId: organizations.requireOrganization(principal), ...requireDocument(vendors, eula_id, document_id) }
  },
  execute: async ({ db }, _input, { organizationId, licence, document }) =>
    toDocument(licence, document, await acceptances(db, organizationId)),
})
