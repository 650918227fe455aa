import Type from 'typebox'
import { CreditsInput } from '#core/money-shapes.ts'
import { newId } from '#core/ids.ts'
import { invalidField, notFound, problem } from '#core/problem.ts'
import { Closed, Nullable } from '#core/shapes.ts'
import { answerStudy } from '#model/orders/vendor-responses.ts'
import * as studies from '#model/orders/study.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_STUDY, StudyId, StudyRecord, toStudy } from './decisions.wire.ts'
import { At } from './wire.ts'

const MAX_OPTIONS = 50

const OptionInput = Closed({
  description: Type.String({ minLength: 1, maxLength: 1_000, description: 'Description of the option, in one sentence' }),
  credits: CreditsInput(0, { description: 'Firm price in credits' }),
  acquisitionStart: At('Start of the acquisition window'),
  acquisitionEnd: At('End of the acquisition window'),
  maxCloudCover: Type.Optional(Nullable(Type.Number({ minimum: 0, maximum: 100, description: 'Maximum cloud cover in percent' }))),
  maxOffNadirDeg: Type.Optional(Nullable(Type.Number({ minimum: 0, maximum: 90, description: 'Maximum off-nadir angle in degrees' }))),
})

/** Completes a feasibility study with its options by hand, for a vendor without an API. */
export default operation({
  id: 'orders.tasking.study_answer',
  scope: 'admin:write',
  tier: 'compute',
  events: ['feasibility.answered'],
  input: Closed({
    study_id: StudyId,
    options: Type.Array(OptionInput, { minItems: 1, maxItems: MAX_OPTIONS, description: 'Options for the buyer' }),
  }),
  output: StudyRecord,
  example: {
    input: {
      study_id: EXAMPLE_STUDY.id,
      options: [
        {
          description: 'Within two weeks, up to 20° off nadir',
          credits: 12_000,
          acquisitionStart: '2026-03-02T00:00:00.000Z',
          acquisitionEnd: '2026-03-16T00:00:00.000Z',
        },
      ],
    },
    output: EXAMPLE_STUDY,
  },
}).handle({
  async check({ db }, { study_id, options }) {
    const study = await studies.find(db, study_id)
    if (!study) throw notFound('feasibility study')
    if (study.state !== 'waiting') throw problem('bad-request', 'This study is already answered')
    options.forEach(({ acquisitionStart, acquisitionEnd }, index) => {
      if (Date.parse(acquisitionStart) >= Date.parse(acquisitionEnd))
        throw invalidField(`options.${index}.acquisitionEnd`, 'must be after acquisitionStart')
    })
    return study
  },
  async execute(context, { options }, study) {
    context.attributeTo(study.organizationId)
    const stored = options.map(({ maxCloudCover, maxOffNadirDeg, ...option }) => ({
      ...option,
      id: newId(),
      maxCloudCover: maxCloudCover ?? null,
      maxOffNadirDeg: maxOffNadirDeg ?? null,
    }))
    const answered = await answerStudy(context, study, stored)
    if (!answered) throw problem('bad-request', 'This study was answered concurrently, or its order has ended')
    return toStudy(answered)
  },
})
