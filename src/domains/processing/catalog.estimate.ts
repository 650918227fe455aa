import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { requireProcess } from '#services/processing/catalogue.ts'
import { estimate } from '#services/processing/price.ts'
import { EXAMPLE_PARAMS, MAX_PARAMS_BYTES, MaybeInputs, ProcessId } from './wire.ts'

/** Estimates the price of a job, which is what `processing.create` reserves. Nothing is stored. */
export default operation({
  id: 'processing.catalog.estimate',
  scope: 'processing:read',
  tier: 'read',
  maxBodyBytes: MAX_PARAMS_BYTES,
  input: Closed({ process_id: ProcessId, inputs: MaybeInputs }),
  output: Closed(
    {
      credits: Type.Integer({ description: 'Price of the job in credits' }),
      aud: Type.Number({ description: 'Price in Australian dollars' }),
      area_sq_km: Type.Number({ description: 'Charged area in km²' }),
    },
    { description: 'Estimated price of the job' },
  ),
  example: { input: { process_id: 'band_math', inputs: EXAMPLE_PARAMS }, output: { credits: 12, aud: 0.12, area_sq_km: 600 } },
}).handle({
  async execute(context, { process_id, inputs = {} }) {
    return await estimate(context, requireProcess(process_id), inputs)
  },
})
