import Type from 'typebox'
import { notFound } from '#core/problem.ts'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import * as commitments from '#model/money/commitment.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { CommitmentRecord, EXAMPLE_COMMITMENT, toCommitment } from './commitments.wire.ts'

/** Lists the organization's commitments with their progress and, on request, the deliveries that count towards them. */
export default operation({
  id: 'organizations.commitments.list',
  scope: 'orders:read',
  tier: 'read',
  input: Closed({
    commitment_id: Described(Type.Optional(Nullable(Type.String({ maxLength: 100 }))), 'Only this commitment'),
    include_line_items: Described(Type.Optional(Type.Boolean()), 'Whether to include each counted delivery'),
  }),
  output: Closed({ commitments: Type.Array(CommitmentRecord, { description: 'Commitments of the organization' }) }),
  example: { input: {}, output: { commitments: [EXAMPLE_COMMITMENT] } },
}).handle({
  check: async ({ principal }) => organizations.requireOrganization(principal),
  async execute({ db, clock }, { commitment_id, include_line_items }, organizationId) {
    const rows = await commitments.list(db, organizationId, clock.now(), commitment_id ?? null)
    if (commitment_id && rows.length === 0) throw notFound('commitment')
    return {
      commitments: await Promise.all(
        rows.map(async (commitment) =>
          toCommitment(commitment, include_line_items ? await commitments.lineItems(db, organizationId, commitment) : null),
        ),
      ),
    }
  },
})
