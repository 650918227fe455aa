import Type from 'typebox'
import { requireSignedIn } from '#core/principal.ts'
import { problem } from '#core/problem.ts'
import { Closed, Defaulted } from '#core/shapes.ts'
import * as organizations from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import * as licensing from '#model/licensing/licence.ts'
import { operation } from '#operation.ts'
import { DocumentId, DocumentRecord, EulaId, EXAMPLE_DOCUMENT, requireDocument, toDocument } from './wire.ts'

/**
 * Accepts a version of a licence agreement for the organization, or withdraws the acceptance. The user, the time and the exact text
 * are stored. Only a signed-in owner or admin of the organization, or an editor of one of its projects, can do this.
 */
export default operation({
  id: 'eulas.document.accept',
  scope: 'eulas:write',
  tier: 'compute',
  input: Closed({
    eula_id: EulaId,
    document_id: DocumentId,
    is_accepted: Defaulted(Type.Boolean(), true, {
      description: 'Whether to accept the licence; `false` withdraws the acceptance for future orders',
    }),
  }),
  output: DocumentRecord,
  example: {
    input: { eula_id: EXAMPLE_DOCUMENT.eula_id, document_id: EXAMPLE_DOCUMENT.id },
    output: { ...EXAMPLE_DOCUMENT, accepted: true, accepted_at: '2026-03-02T09:30:00.000Z' },
  },
}).handle({
  async check({ db, principal, vendors }, { eula_id, document_id }) {
    requireSignedIn(principal, 'accept or withdraw a licence')
    const organizationId = organizations.requireOrganization(principal)
    if (!(await projects.isEditorOfAny(db, principal, organizationId)))
      throw problem('forbidden', 'Only an owner, an admin or an editor of a project can accept or withdraw a licence')
    return { organizationId, ...requireDocument(vendors, eula_id, document_id) }
  },
  async execute({ tx, clock, principal }, { is_accepted }, { organizationId, licence, document }) {
    const now = clock.now()
    if (is_accepted) await licensing.accept(tx, organizationId, { licence, document, userId: principal.userId }, now)
    else await licensing.withdraw(tx, organizationId, document.id, now)
    return toDocument(licence, document, await licensing.acceptances(tx, organizationId))
  },
})
