import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { requireProcess } from '#services/processing/catalogue.ts'
import { EXAMPLE_PARAMS, EXAMPLE_SUMMARY, ProcessId, ProcessRecord, toProcess } from './wire.ts'

/** Returns a process with the schemas of its parameters and outputs. */
export default operation({
  id: 'processing.catalog.get',
  scope: 'processing:read',
  tier: 'read',
  input: Closed({ process_id: ProcessId }),
  output: ProcessRecord,
  example: {
    input: { process_id: 'band_math' },
    output: { ...EXAMPLE_SUMMARY, input_schema: { type: 'object' }, output_schema: { type: 'object' }, example: EXAMPLE_PARAMS },
  },
}).handle({
  async execute(_context, { process_id }) {
    return toProcess(requireProcess(process_id))
  },
})
