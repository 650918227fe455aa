import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { Closed, Nullable } from '#core/shapes.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as quotation from '#model/orders/quotation.ts'
import * as study from '#model/orders/study.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_QUOTATION, EXAMPLE_STUDY, Kinds, QuotationRecord, StudyRecord, toQuotation, toStudy } from './decisions.wire.ts'
import { filterOf } from './filter.lib.ts'
import { Window } from './wire.ts'

const KINDS = ['study', 'quotation']

/** Studies and quotations that wait for the customer's decision, newest first. */
export default operation({
  id: 'orders.tasking.decisions.pending',
  scope: 'orders:read',
  tier: 'read',
  input: Closed({
    workspaceId: Type.Optional(Nullable(Type.String({ maxLength: 100, description: 'Only entries of this project' }))),
    kinds: Kinds,
    ...Window,
  }),
  output: Closed(
    {
      studies: Type.Array(StudyRecord, { description: 'Feasibility studies waiting for a decision' }),
      quotations: Type.Array(QuotationRecord, { description: 'Quotations waiting for a decision' }),
      page: Type.Integer({ description: '0-based page number of both lists' }),
      size: Type.Integer({ description: 'Maximum entries per page of each list' }),
      totalStudies: Type.Integer({ description: 'Total number of studies' }),
      totalQuotations: Type.Integer({ description: 'Total number of quotations' }),
    },
    { description: 'Feasibility studies and quotations waiting for a decision' },
  ),
  example: {
    input: {},
    output: { studies: [EXAMPLE_STUDY], quotations: [EXAMPLE_QUOTATION], page: 0, size: 20, totalStudies: 1, totalQuotations: 1 },
  },
}).handle({
  async check({ principal }, { kinds }) {
    const wanted = kinds === null ? KINDS : kinds.split(',').map((kind) => kind.trim().toLowerCase())
    if (!wanted.every((kind) => KINDS.includes(kind))) throw invalidField('kinds', 'must be study, quotation, or both with a comma between')
    return { organizationId: requireOrganization(principal), wanted }
  },
  async execute({ db, principal, clock }, input, { organizationId, wanted }) {
    const filter = await filterOf(db, principal, { workspaceId: input.workspaceId ?? null }, { decisions: null, isReady: true })
    const none = { found: [], total: 0 }
    const studies = wanted.includes('study') ? await study.list(db, organizationId, filter, input, clock.now()) : none
    const quotations = wanted.includes('quotation') ? await quotation.list(db, organizationId, filter, input, clock.now()) : none
    return {
      studies: studies.found.map(toStudy),
      quotations: quotations.found.map((one) => toQuotation(one, clock.now())),
      page: input.page,
      size: input.size,
      totalStudies: studies.total,
      totalQuotations: quotations.total,
    }
  },
})
