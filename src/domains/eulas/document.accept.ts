import Type from 'typebox'
import { Closed, Defaulted } from '#core/shapes.ts'
import * as organization from '#model/identity/organization.ts'
import * as licensing from '#model/licensing/licence.ts'
import { operation } from '#operation.ts'
import { DocumentId, DocumentRecord, EulaId, EXAMPLE_DOCUMENT, requireDocument, toDocument } from './wire.ts'

/** Accepts a version of a licence agreement for the organization, or takes that back. Who, when and which words is kept. */
export default operation({
  id: 'eulas.document.accept',
  scope: 'eulas:write',
  tier: 'compute',
  input: Closed({
    eula_id: EulaId,
    document_id: DocumentId,
    is_accepted: Defaulted(Type.Boolean(), true, { description: 'False takes an acceptance back; orders placed before stay as they are' }),
  }),
  output: DocumentRecord,
  example: {
    input: { eula_id: EXAMPLE_DOCUMENT.eula_id, document_id: EXAMPLE_DOCUMENT.id },
    output: { ...EXAMPLE_DOCUMENT, accepted: true, accepted_at: '2026-03-02T09:30:00.000Z' },
  },
}).handle({
  async check({ principal, vendors }, { eula_id, document_id }) {
    const organizationId = organization.requireOrganization(principal)
    return { organizationId, ...requireDocument(vendors, eula_id, document_id) }
  },
  async execute({ tx, clock, principal }, { is_accepted }, { organizationId, licence, document }) {
    const now = clock.now()
    if (is_accepted) await licensing.accept(tx, organizationId, { licence, document, userId: principal.userId }, now)
    else await licensing.withdraw(tx, organizationId, document.id, now)
    return toDocument(licence, document, await licensing.acceptances(tx, organizationId))
  },
})
