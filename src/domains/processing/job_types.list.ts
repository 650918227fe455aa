import Type from 'typebox'
import { Choice, Closed, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { PROCESSES } from '#services/processing/catalogue.ts'
import { CATEGORIES } from '#services/processing/process.ts'
import { ProcessId } from './wire.ts'

const JobType = Closed(
  {
    id: Type.String({ description: 'Job type ID, as `processing.create` accepts it' }),
    name: Type.String({ description: 'Job type name, as in `job_type` of jobs' }),
    title: Type.String({ description: 'Display name' }),
    process_id: ProcessId,
    category: Choice(CATEGORIES, { description: 'Process category' }),
    timeout_minutes: Type.Integer({ description: 'Time limit of a job in minutes' }),
  },
  { $id: 'JobType', description: 'A processing job type' },
)

/** Lists job types with the IDs that `processing.create` accepts. */
export default operation({
  id: 'processing.job_types.list',
  scope: 'processing:read',
  tier: 'read',
  input: Closed({ category: Type.Optional(Nullable(Choice(CATEGORIES, { description: 'Only job types of this category' }))) }),
  output: Closed({
    job_types: Type.Array(JobType, { description: 'Job types' }),
    count: Type.Integer({ description: 'Number of results returned' }),
  }),
  example: {
    input: {},
    output: {
      job_types: [
        {
          id: 'band_math',
          name: 'band_math',
          title: 'Band math',
          process_id: 'band_math',
          category: 'bands',
          timeout_minutes: 60,
        },
      ],
      count: 1,
    },
  },
}).handle({
  async execute(_context, { category }) {
    const listed = PROCESSES.filter((process) => category == null || process.category === category)
    return {
      job_types: listed.map((process) => ({
        id: process.id,
        name: process.id,
        title: process.title,
        process_id: process.id,
        category: process.category,
        timeout_minutes: process.timeoutMinutes,
      })),
      count: listed.length,
    }
  },
})
