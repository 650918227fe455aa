import Type from 'typebox'
import { Choice, Closed, Nullable } from '#core/shapes.ts'
import { STUDY_DECISIONS } from '#core/vocabulary.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as study from '#model/orders/study.ts'
import { operation } from '#operation.ts'
import { DecisionFilters, EXAMPLE_STUDY, StudyRecord, toStudy } from './decisions.wire.ts'
import { filterOf } from './filter.lib.ts'
import { PageOf, pageOf } from './wire.ts'

/** Pages of feasibility studies, newest first. */
export default operation({
  id: 'orders.tasking.feasibility_studies.list',
  scope: 'orders:read',
  tier: 'read',
  input: Closed({ ...DecisionFilters, decision: Type.Optional(Nullable(Choice(STUDY_DECISIONS))) }),
  output: PageOf(StudyRecord),
  example: { input: { decision: 'NOT_DECIDED' }, output: { content: [EXAMPLE_STUDY], page: 0, size: 20, totalElements: 1, totalPages: 1 } },
}).handle({
  check: async ({ principal }) => requireOrganization(principal),
  async execute({ db, principal, clock }, input, organizationId) {
    const { found, total } = await study.list(db, organizationId, await filterOf(db, principal, input), input, clock.now())
    return pageOf(found.map(toStudy), input, total)
  },
})
