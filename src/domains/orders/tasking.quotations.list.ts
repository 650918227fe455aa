import Type from 'typebox'
import { Closed, Nullable } from '#core/shapes.ts'
import { QUOTATION_DECISIONS } from '#core/vocabulary.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as quotations from '#model/orders/quotation.ts'
import { operation } from '#operation.ts'
import { DecisionFilters, EXAMPLE_QUOTATION, QuotationRecord, toQuotation } from './decisions.wire.ts'
import { decisionsOf, filterOf } from './filter.lib.ts'
import { PageOf } from '#wire/page.ts'
import { windowOf } from './wire.ts'

/** Lists quotations, newest first. */
export default operation({
  id: 'orders.tasking.quotations.list',
  scope: 'orders:read',
  tier: 'read',
  input: Closed({
    ...DecisionFilters,
    decision: Type.Optional(
      Nullable(
        Type.String({
          maxLength: 100,
          description: `Only quotations with these decisions, separated by commas: ${QUOTATION_DECISIONS.join(', ')}`,
        }),
      ),
    ),
  }),
  output: PageOf(QuotationRecord, 'Quotations'),
  example: {
    input: { decision: 'NOT_DECIDED' },
    output: { content: [EXAMPLE_QUOTATION], page: 0, size: 20, totalElements: 1, totalPages: 1 },
  },
}).handle({
  check: async ({ principal }, { decision }) => ({
    organizationId: requireOrganization(principal),
    decisions: decisionsOf(decision, QUOTATION_DECISIONS),
  }),
  async execute({ db, principal, clock }, input, { organizationId, decisions }) {
    const { quotations: page, total } = await quotations.list(
      db,
      organizationId,
      await filterOf(db, principal, input, { decisions, isReady: false }),
      input,
      clock.now(),
    )
    return windowOf(
      page.map((quotation) => toQuotation(quotation, clock.now())),
      input,
      total,
    )
  },
})
