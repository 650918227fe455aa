import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { PROCESSES } from '#services/processing/catalogue.ts'
import { EXAMPLE_SUMMARY, ProcessSummary, toSummary } from './wire.ts'

/** Lists the available processes with versions and prices. */
export default operation({
  id: 'processing.catalog.list',
  scope: 'processing:read',
  tier: 'read',
  input: Closed({}),
  output: Closed({ processes: Type.Array(ProcessSummary, { description: 'Available processes' }) }),
  example: { input: {}, output: { processes: [EXAMPLE_SUMMARY] } },
}).handle({
  async execute() {
    return { processes: PROCESSES.map(toSummary) }
  },
})
