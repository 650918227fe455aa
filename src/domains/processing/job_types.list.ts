import Type from 'typebox'
import { Choice, Closed, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { PROCESSES } from '#services/processing/catalogue.ts'
import { CATEGORIES } from '#services/processing/process.ts'
import { ProcessId } from './wire.ts'

const JobType = Closed(
  {
    id: Type.String({ description: 'What processing.create takes as job_type_id' }),
    name: Type.String({ description: 'What jobs of this type show as job_type' }),
    title: Type.String({ description: 'What a person calls it' }),
    process_id: ProcessId,
    category: Choice(CATEGORIES, { description: 'What kind of work it is' }),
    timeout_minutes: Type.Integer({ description: 'A job that takes longer fails' }),
  },
  { $id: 'JobType' },
)

/** Job types, and the ids that `processing.create` takes. */
export default operation({
  id: 'processing.job_types.list',
  scope: 'processing:read',
  tier: 'read',
  input: Closed({ category: Type.Optional(Nullable(Choice(CATEGORIES, { description: 'Only types of this kind' }))) }),
  output: Closed({
    job_types: Type.Array(JobType, { description: 'The types' }),
    count: Type.Integer({ description: 'How many there are' }),
  }),
  example: {
    input: {},
    output: {
      job_types: [
        { id: 'band_math', name: 'band_math', title: 'Band math', process_id: 'band_math', category: 'bands', timeout_minutes: 60 },
      ],
      count: 1,
    },
  },
}).handle({
  async execute(_context, { category }) {
    const wanted = PROCESSES.filter((process) => category == null || process.category === category)
    return {
      job_types: wanted.map((process) => ({
        id: process.id,
        name: process.id,
        title: process.title,
        process_id: process.id,
        category: process.category,
        timeout_minutes: process.timeoutMinutes,
      })),
      count: wanted.length,
    }
  },
})
