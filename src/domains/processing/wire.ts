import Type from 'typebox'
import { Choice, Closed, FreeForm, type Received } from '#core/shapes.ts'
import { CATEGORIES, type AnyProcess } from '#services/processing/process.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

export const ProcessId = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'The id of a process, as processing.catalog.list gives it',
})
const Inputs = Type.Unsafe<Record<string, unknown>>({ ...FreeForm, description: 'Parameters, as the schema of the process has them' })
export const MaybeInputs = Type.Optional(Inputs)
/** Thousands of zones come as one list of features. */
export const MAX_PARAMS_BYTES = 16 * 1024 * 1024

const summaryFields = {
  id: ProcessId,
  title: Type.String({ description: 'What it is called' }),
  description: Type.String({ description: 'What it does' }),
  version: Type.String({ description: 'Its version' }),
  category: Choice(CATEGORIES, { description: 'What kind of work it is' }),
  price: Closed(
    {
      credits_per_km2: Type.Number({ description: 'Credits for each square kilometre' }),
      minimum_credits: Type.Integer({ description: 'What a job costs at least' }),
    },
    { description: 'What a job costs' },
  ),
  timeout_minutes: Type.Integer({ description: 'A job that takes longer fails, and costs nothing' }),
}
export const ProcessSummary = Closed(summaryFields, { $id: 'ProcessSummary' })
const Schema = (description: string) => Type.Unsafe<Record<string, unknown>>({ ...FreeForm, description })
export const ProcessRecord = Closed(
  {
    ...summaryFields,
    input_schema: Schema('JSON Schema of its parameters'),
    output_schema: Schema('JSON Schema of what a completed job says of its outputs'),
    example: Schema('Parameters that pass'),
  },
  { $id: 'Process' },
)

export const toSummary = ({
  id,
  title,
  description,
  version,
  category,
  price,
  timeoutMinutes,
}: AnyProcess): Received<typeof ProcessSummary> => ({
  id,
  title,
  description,
  version,
  category,
  price: { credits_per_km2: price.creditsPerKm2, minimum_credits: price.minimumCredits },
  timeout_minutes: timeoutMinutes,
})

/** Schemas as plain data: what the library adds for itself is not part of them. */
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
  description: 'Computes an expression over the bands of an item.',
  version: '1',
  category: 'bands',
  price: { credits_per_km2: 0.02, minimum_credits: 5 },
  timeout_minutes: 60,
}
