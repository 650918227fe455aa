import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { Closed, Nullable } from '#core/shapes.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as quotations from '#model/orders/quotation.ts'
import * as studies from '#model/orders/study.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_QUOTATION, EXAMPLE_STUDY, Kinds, QuotationRecord, StudyRecord, toQuotation, toStudy } from './decisions.wire.ts'
import { filterOf } from './filter.lib.ts'
import { Window } from './wire.ts'

const KINDS = ['study', 'quotation']

/** Lists studies and quotations that await the customer's decision, newest first. */
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
    const included = kinds === null ? KINDS : kinds.split(',').map((kind) => kind.trim().toLowerCase())
    if (!included.every((kind) => KINDS.includes(kind)))
      throw invalidField('kinds', 'must be study, quotation, or both separated by a comma')
    return { organizationId: requireOrganization(principal), included }
  },
  async execute({ db, principal, clock }, input, { organizationId, included }) {
    const filter = await filterOf(db, principal, { workspaceId: input.workspaceId ?? null }, { decisions: null, isReady: true })
    const studyPage = included.includes('study')
      ? await studies.list(db, organizationId, filter, input, clock.now())
      : { studies: [], total: 0 }
    const quotationPage = included.includes('quotation')
      ? await quotations.list(db, organizationId, filter, input, clock.now())
      : { quotations: [], total: 0 }
    return {
      studies: studyPage.studies.map(toStudy),
      quotations: quotationPage.quotations.map((quotation) => toQuotation(quotation, clock.now())),
      page: input.page,
      size: input.size,
      totalStudies: studyPage.total,
      totalQuotations: quotationPage.total,
    }
  },
})
