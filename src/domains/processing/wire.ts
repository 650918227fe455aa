import Type from 'typebox'
import { Choice, Closed, FreeForm, Nullable, type Received } from '#core/shapes.ts'
import { CATEGORIES, type AnyProcess } from '#services/processing/process.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

export const ProcessId = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'Process ID from `processing.catalog.list`',
})
const Inputs = Type.Unsafe<Record<string, unknown>>({ ...FreeForm, description: 'Parameters of the process' })
export const MaybeInputs = Type.Optional(Inputs)
/** Large enough for thousands of zones in one FeatureCollection. */
export const MAX_PARAMS_BYTES = 16 * 1024 * 1024

const summaryFields = {
  id: ProcessId,
  title: Type.String({ description: 'Process title' }),
  description: Type.String({ description: 'Description of the process' }),
  version: Type.String({ description: 'Process version' }),
  category: Choice(CATEGORIES, { description: 'Process category' }),
  price: Closed(
    {
      credits_per_km2: Type.Number({ description: 'Credits per km²' }),
      minimum_credits: Type.Integer({ description: 'Minimum price in credits' }),
    },
    { $id: 'ProcessPrice', description: 'Price of a job' },
  ),
  timeout_minutes: Type.Integer({ description: 'Time limit of a job in minutes; a job that exceeds it fails without charge' }),
  created_by: Nullable(
    Type.String({ description: 'The operation that creates jobs of this process; null for `processing.execute` and others of its kind' }),
  ),
}
export const ProcessSummary = Closed(summaryFields, { $id: 'ProcessSummary', description: 'A process' })
const Schema = (description: string) => Type.Unsafe<Record<string, unknown>>({ ...FreeForm, description })
export const ProcessRecord = Closed(
  {
    ...summaryFields,
    input_schema: Schema('JSON Schema of the process parameters'),
    output_schema: Schema('JSON Schema of the outputs of a completed job'),
    example: Schema('Example parameters'),
  },
  { $id: 'Process', description: 'A process with its parameter schema' },
)

export const toSummary = ({
  id,
  title,
  description,
  version,
  category,
  price,
  timeoutMinutes,
  createdBy,
}: AnyProcess): Received<typeof ProcessSummary> => ({
  id,
  title,
  description,
  version,
  category,
  price: { credits_per_km2: price.creditsPerKm2, minimum_credits: price.minimumCredits },
  timeout_minutes: timeoutMinutes,
  created_by: createdBy ?? null,
})

/** Schemas as plain JSON, without the library's own symbols. */
const plain = (schema: object): Record<string, unknown> => JSON.parse(JSON.stringify(schema)) as Record<string, unknown>

export const toProcess = (process: AnyProcess): Received<typeof ProcessRecord> => ({
  ...toSummary(process),
  input_schema: plain(process.input),
  output_schema: plain(process.output),
  example: plain(process.example as object),
})

export const EXAMPLE_PARAMS = { item_id: EXAMPLE_IDS.item, expression: '(b4-b3)/(b4+b3)' }
export const EXAMPLE_SUMMARY: Received<typeof ProcessSummary> = {
  id: 'band_math',
  title: 'Band math',
  description: 'Evaluates an expression over the bands of an item.',
  version: '1',
  category: 'bands',
  price: { credits_per_km2: 0.02, minimum_credits: 5 },
  timeout_minutes: 60,
  created_by: null,
}
