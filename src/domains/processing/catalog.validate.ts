import Type from 'typebox'
import { Problem, type FieldError } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { examineParams, requireProcess } from '#services/processing/catalogue.ts'
import { findSources, openSources } from '#services/processing/sources.ts'
import { EXAMPLE_PARAMS, MAX_PARAMS_BYTES, MaybeInputs, ProcessId } from './wire.ts'

const CALLER_ERRORS = [400, 422]

/** Validates parameters without creating a job: the schema, the named items and their rasters. */
export default operation({
  id: 'processing.catalog.validate',
  scope: 'processing:read',
  tier: 'read',
  maxBodyBytes: MAX_PARAMS_BYTES,
  input: Closed({ process_id: ProcessId, inputs: MaybeInputs }),
  output: Closed(
    {
      valid: Type.Boolean({ description: 'Whether the parameters are valid' }),
      errors: Type.Array(
        Closed({
          field: Type.String({ description: 'Parameter name' }),
          message: Type.String({ description: 'Error message' }),
        }),
        { description: 'Errors; empty if valid' },
      ),
    },
    { description: 'Result of the validation' },
  ),
  example: { input: { process_id: 'band_math', inputs: EXAMPLE_PARAMS }, output: { valid: true, errors: [] } },
}).handle({
  async execute(context, { process_id, inputs = {} }) {
    const process = requireProcess(process_id)
    const { value, errors } = examineParams(process, inputs, 'inputs')
    if (errors.length > 0) return { valid: false, errors }
    try {
      const sources = await findSources(context, process, value, null)
      process.check?.(value, await openSources(context, sources))
      return { valid: true, errors: [] }
    } catch (error) {
      if (!(error instanceof Problem) || !CALLER_ERRORS.includes(error.status)) throw error
      const fields = error.members['errors'] as FieldError[] | undefined
      return { valid: false, errors: fields ?? [{ field: 'inputs', message: error.message }] }
    }
  },
})
