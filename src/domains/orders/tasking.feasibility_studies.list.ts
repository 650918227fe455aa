import Type from 'typebox'
import { Closed, Nullable } from '#core/shapes.ts'
import { STUDY_DECISIONS } from '#core/vocabulary.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as studies from '#model/orders/study.ts'
import { operation } from '#operation.ts'
import { DecisionFilters, EXAMPLE_STUDY, StudyRecord, toStudy } from './decisions.wire.ts'
import { decisionsOf, filterOf } from './filter.lib.ts'
import { PageOf } from '#wire/page.ts'
import { windowOf } from './wire.ts'

/** Lists feasibility studies, newest first. */
export default operation({
  id: 'orders.tasking.feasibility_studies.list',
  scope: 'orders:read',
  tier: 'read',
  input: Closed({
    ...DecisionFilters,
    decision: Type.Optional(
      Nullable(
        Type.String({
          maxLength: 100,
          description: `Only studies with these decisions, separated by commas: ${STUDY_DECISIONS.join(', ')}`,
        }),
      ),
    ),
  }),
  output: PageOf(StudyRecord, 'Feasibility studies'),
  example: { input: { decision: 'NOT_DECIDED' }, output: { content: [EXAMPLE_STUDY], page: 0, size: 20, totalElements: 1, totalPages: 1 } },
}).handle({
  check: async ({ principal }, { decision }) => ({
    organizationId: requireOrganization(principal),
    decisions: decisionsOf(decision, STUDY_DECISIONS),
  }),
  async execute({ db, principal, clock }, input, { organizationId, decisions }) {
    const { studies: page, total } = await studies.list(
      db,
      organizationId,
      await filterOf(db, principal, input, { decisions, isReady: false }),
      input,
      clock.now(),
    )
    return windowOf(page.map(toStudy), input, total)
  },
})
