import Type from 'typebox'
import { Choice, Closed, Nullable } from '#core/shapes.ts'
import { QUOTATION_DECISIONS } from '#core/vocabulary.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as quotation from '#model/orders/quotation.ts'
import { operation } from '#operation.ts'
import { DecisionFilters, EXAMPLE_QUOTATION, QuotationRecord, toQuotation } from './decisions.wire.ts'
import { filterOf } from './filter.lib.ts'
import { PageOf, pageOf } from './wire.ts'

/** Pages of quotations, newest first. */
export default operation({
  id: 'orders.tasking.quotations.list',
  scope: 'orders:read',
  tier: 'read',
  input: Closed({ ...DecisionFilters, decision: Type.Optional(Nullable(Choice(QUOTATION_DECISIONS))) }),
  output: PageOf(QuotationRecord),
  example: {
    input: { decision: 'NOT_DECIDED' },
    output: { content: [EXAMPLE_QUOTATION], page: 0, size: 20, totalElements: 1, totalPages: 1 },
  },
}).handle({
  check: async ({ principal }) => requireOrganization(principal),
  async execute({ db, principal, clock }, input, organizationId) {
    const { found, total } = await quotation.list(db, organizationId, await filterOf(db, principal, input), input, clock.now())
    return pageOf(found.map(toQuotation), input, total)
  },
})
