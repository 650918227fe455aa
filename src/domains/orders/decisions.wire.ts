import Type from 'typebox'
import { audOf } from '#core/money.ts'
import { Choice, Closed, Defaulted, Nullable } from '#core/shapes.ts'
import { QUOTATION_DECISIONS, QUOTATION_STATES, STUDY_DECISIONS, STUDY_STATES } from '#core/vocabulary.ts'
import { stateOf, type Quotation } from '#model/orders/quotation.ts'
import type { Study } from '#model/orders/study.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'
import { At, EXAMPLE_GROUP_ID, EXAMPLE_ORDER_ID, IdOf, Window } from './wire.ts'

export const StudyId = Type.String({ minLength: 1, maxLength: 100, description: 'Id of the feasibility study' })
export const QuotationId = Type.String({ minLength: 1, maxLength: 100, description: 'Id of the quotation' })

const Filter = (description: string) => Type.Optional(Nullable(Type.String({ maxLength: 100, description })))

export const DecisionFilters = {
  id: Filter('Only this one'),
  workspaceId: Filter('Only those of this project'),
  orderId: Filter('Only those of this order'),
  ...Window,
}

const Belonging = {
  orderId: IdOf('The order that it is for'),
  groupId: IdOf('The group of the order that it is for'),
  workspaceId: IdOf('The project of the order'),
}
const Dates = {
  createdAt: At('When the vendor was asked for it'),
  decisionAt: Nullable(At('When the buyer decided')),
  expiresAt: At('Until when it can be decided on; its order is cancelled then'),
}

const OptionRecord = Closed({
  id: Type.String({ description: 'What orders.tasking.feasibility_decide takes' }),
  description: Type.String({ description: 'What the vendor offers, in its own words' }),
  credits: Type.Integer({ description: 'Its firm price' }),
  aud: Type.Number({ description: 'The same in Australian dollars' }),
  acquisitionStart: At('From when on the image may be taken'),
  acquisitionEnd: At('Until when it may be taken'),
  maxCloudCover: Nullable(Type.Number({ description: 'Percent of cloud at most' })),
  maxOffNadirDeg: Nullable(Type.Number({ description: 'Degrees off nadir at most' })),
})

export const StudyRecord = Closed(
  {
    id: IdOf('Id of the study'),
    ...Belonging,
    state: Choice(STUDY_STATES, { description: 'waiting: the vendor has not answered yet' }),
    decision: Choice(STUDY_DECISIONS, { description: 'What the buyer has decided' }),
    options: Type.Array(OptionRecord, { description: 'What the vendor offers; empty until it has answered' }),
    acceptedOptionId: Nullable(Type.String({ description: 'The option that was accepted' })),
    ...Dates,
  },
  { $id: 'FeasibilityStudy' },
)

export const QuotationRecord = Closed(
  {
    id: IdOf('Id of the quotation'),
    ...Belonging,
    state: Choice(QUOTATION_STATES, {
      description: 'requested: the vendor has not answered yet; issued: it can be decided; expired: it can no longer be decided',
    }),
    creditsPrice: Nullable(Type.Integer({ description: 'Null until it is issued' })),
    aud: Nullable(Type.Number({ description: 'The same in Australian dollars' })),
    decision: Choice(QUOTATION_DECISIONS, { description: 'What the buyer has decided' }),
    ...Dates,
  },
  { $id: 'Quotation' },
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
  Nullable(Type.String({ maxLength: 100, description: 'study, quotation, or both with a comma between' })),
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
