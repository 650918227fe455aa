import Type from 'typebox'
import { audOf } from '#core/money.ts'
import { Choice, Closed, Defaulted, Nullable } from '#core/shapes.ts'
import { QUOTATION_DECISIONS, QUOTATION_STATES, STUDY_DECISIONS, STUDY_STATES } from '#core/vocabulary.ts'
import { stateOf, type Quotation } from '#model/orders/quotation.ts'
import type { Study } from '#model/orders/study.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'
import { At, EXAMPLE_GROUP_ID, EXAMPLE_ORDER_ID, IdOf, Window } from './wire.ts'

export const StudyId = Type.String({ minLength: 1, maxLength: 100, description: 'Feasibility study ID' })
export const QuotationId = Type.String({ minLength: 1, maxLength: 100, description: 'Quotation ID' })

const Filter = (description: string) => Type.Optional(Nullable(Type.String({ maxLength: 100, description })))

export const DecisionFilters = {
  id: Filter('Only the entry with this ID'),
  workspaceId: Filter('Only entries of this project'),
  orderId: Filter('Only entries of this order'),
  ...Window,
}

const Belonging = {
  orderId: IdOf('Order ID'),
  groupId: IdOf('Order group ID'),
  workspaceId: IdOf("ID of the order's project"),
}
const Dates = {
  createdAt: At('Time of the request to the vendor'),
  decisionAt: Nullable(At("Time of the buyer's decision; null until decided")),
  expiresAt: At('Decision deadline; the order is cancelled afterwards'),
}

const OptionRecord = Closed({
  id: Type.String({ description: 'Option ID, as `orders.tasking.feasibility_decide` accepts it' }),
  description: Type.String({ description: "Vendor's description of the option" }),
  credits: Type.Integer({ description: 'Firm price in credits' }),
  aud: Type.Number({ description: 'Price in Australian dollars' }),
  acquisitionStart: At('Start of the acquisition window'),
  acquisitionEnd: At('End of the acquisition window'),
  maxCloudCover: Nullable(Type.Number({ description: 'Maximum cloud cover in percent' })),
  maxOffNadirDeg: Nullable(Type.Number({ description: 'Maximum off-nadir angle in degrees' })),
})

export const StudyRecord = Closed(
  {
    id: IdOf('Feasibility study ID'),
    ...Belonging,
    state: Choice(STUDY_STATES, { description: 'Study state; `waiting` until the vendor responds' }),
    decision: Choice(STUDY_DECISIONS, { description: 'Decision on the study' }),
    options: Type.Array(OptionRecord, { description: 'Options offered by the vendor; empty until it responds' }),
    acceptedOptionId: Nullable(Type.String({ description: 'ID of the accepted option; null if none was accepted' })),
    ...Dates,
  },
  { $id: 'FeasibilityStudy', description: 'A feasibility study of a tasking order' },
)

export const QuotationRecord = Closed(
  {
    id: IdOf('Quotation ID'),
    ...Belonging,
    state: Choice(QUOTATION_STATES, {
      description: 'Quotation state: `requested` until the vendor responds, `issued` while it can be decided, then `expired`',
    }),
    creditsPrice: Nullable(Type.Integer({ description: 'Quoted price in credits; null until issued' })),
    aud: Nullable(Type.Number({ description: 'Price in Australian dollars' })),
    decision: Choice(QUOTATION_DECISIONS, { description: 'Decision on the quotation' }),
    ...Dates,
  },
  { $id: 'Quotation', description: 'A quotation of a tasking order' },
)

export const toStudy = (study: Study) => ({
  id: study.id,
  orderId: study.orderId,
  groupId: study.groupId,
  workspaceId: study.projectId,
  state: study.state,
  decision: study.decision,
  options: study.options.map((option) => ({ ...option, aud: audOf(option.credits) })),
  acceptedOptionId: study.acceptedOptionId,
  createdAt: study.createdAt.toISOString(),
  decisionAt: study.decisionAt?.toISOString() ?? null,
  expiresAt: study.expiresAt.toISOString(),
})

export const toQuotation = (quotation: Quotation, now: Date) => ({
  id: quotation.id,
  orderId: quotation.orderId,
  groupId: quotation.groupId,
  workspaceId: quotation.projectId,
  state: stateOf(quotation, now),
  creditsPrice: quotation.credits,
  aud: quotation.credits === null ? null : audOf(quotation.credits),
  decision: quotation.decision,
  createdAt: quotation.createdAt.toISOString(),
  decisionAt: quotation.decisionAt?.toISOString() ?? null,
  expiresAt: quotation.expiresAt.toISOString(),
})

export const Kinds = Defaulted(
  Nullable(Type.String({ maxLength: 100, description: '`study`, `quotation` or both, separated by a comma' })),
  null,
)

export const EXAMPLE_STUDY = {
  id: '0199f2da-0000-7000-8000-000000000001',
  orderId: EXAMPLE_ORDER_ID,
  groupId: EXAMPLE_GROUP_ID,
  workspaceId: EXAMPLE_IDS.project,
  state: 'answered' as const,
  decision: 'NOT_DECIDED' as const,
  options: [
    {
      id: 'option-1',
      description: 'Within two weeks, up to 20° off nadir',
      credits: 12_000,
      aud: 120,
      acquisitionStart: '2026-03-02T00:00:00.000Z',
      acquisitionEnd: '2026-03-16T00:00:00.000Z',
      maxCloudCover: 15,
      maxOffNadirDeg: 20,
    },
  ],
  acceptedOptionId: null,
  createdAt: EXAMPLE_AT,
  decisionAt: null,
  expiresAt: '2026-03-31T09:30:00.000Z',
}
export const EXAMPLE_QUOTATION = {
  id: '0199f2db-0000-7000-8000-000000000001',
  orderId: EXAMPLE_ORDER_ID,
  groupId: EXAMPLE_GROUP_ID,
  workspaceId: EXAMPLE_IDS.project,
  state: 'issued' as const,
  creditsPrice: 12_400,
  aud: 124,
  decision: 'NOT_DECIDED' as const,
  createdAt: EXAMPLE_AT,
  decisionAt: null,
  expiresAt: '2026-03-31T09:30:00.000Z',
}
