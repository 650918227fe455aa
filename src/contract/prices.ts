/** Estimates the price of a call with the operation that estimates it. Only the service knows prices. */

export interface Price {
  /** Null if the price is only known afterwards. */
  credits: number | null
  aud: number | null
  /** An explanation, if a number is not enough. */
  note?: string
}

/** Calls an operation: through the client, the command line, or the server's own pipeline. */
export type CallOperation = (operation: string, input: object) => Promise<unknown>

type Fields = Readonly<Record<string, unknown>>
type Estimate = (call: CallOperation, input: Fields) => Promise<Price>

const CREDITS_PER_AUD = 100

const ofCredits = (credits: number): Price => ({ credits, aud: credits / CREDITS_PER_AUD })

const pick = (input: Fields, ...names: readonly string[]): Fields =>
  Object.fromEntries(names.filter((name) => input[name] !== undefined).map((name) => [name, input[name]]))

/** The request is not possible, so it has no price. */
export class PriceError extends Error {
  override readonly name = 'PriceError'
}

/** The first number under one of these names, at the top or in `summary`. */
function totalOf(estimate: unknown): Price {
  const { summary, ...rest } = estimate as Fields & { summary?: Fields }
  const fields = { ...rest, ...summary } as Fields
  const errors = (rest['errors'] ?? []) as readonly { reason?: string; message?: string }[]
  // The whole call would be rejected, so there is no price for a part of it.
  if (errors.length > 0) throw new PriceError(errors.map(({ reason, message }) => reason ?? message ?? 'No price').join('. '))
  const credits = fields['totalCredits'] ?? fields['total_credits'] ?? fields['credits']
  return typeof credits === 'number' ? ofCredits(credits) : { credits: null, aud: null, note: 'The estimate has no price' }
}

const estimatedBy =
  (operation: string, ...fields: readonly string[]): Estimate =>
  async (call, input) =>
    totalOf(await call(operation, pick(input, ...fields)))

const processing: Estimate = async (call, input) => {
  const { job_types } = (await call('processing.job_types.list', {})) as { job_types: { id: string; process_id: string }[] }
  const type = job_types.find(({ id }) => id === input['job_type_id'] || id === input['process_id'])
  const process_id = type?.process_id ?? input['process_id'] ?? input['job_type_id']
  return totalOf(await call('processing.catalog.estimate', { process_id, inputs: input['inputs'] ?? input['input_params'] ?? {} }))
}

const clip: Estimate = async (call, { source_item_id, aoi_geometry, asset_keys }) =>
  totalOf(
    await call('processing.catalog.estimate', {
      process_id: 'cog_clip',
      inputs: { item_id: source_item_id, geometry: aoi_geometry, ...(asset_keys === undefined ? {} : { asset_keys }) },
    }),
  )

/** The area counts once, however many mosaics are clipped. */
const clipOfArea: Estimate = async (call, { area, mosaic_types, aoi_geometry }) => {
  const known = (await call('clip.area.metadata', { area })) as { name: string; mosaic_types: readonly string[] }
  const unknown = ((mosaic_types ?? []) as readonly string[]).filter((type) => !known.mosaic_types.includes(type))
  if (unknown.length > 0) throw new PriceError(`${known.name} has no mosaic ${unknown.join(', ')}; it has ${known.mosaic_types.join(', ')}`)
  return totalOf(await call('processing.catalog.estimate', { process_id: 'cog_clip', inputs: { geometry: aoi_geometry } }))
}

const sceneCopy: Estimate = async (call, { host_name, id, assets, area }) =>
  totalOf(
    await call('processing.catalog.estimate', {
      process_id: 'scene_copy',
      inputs: { host_name, scene_id: id, ...(assets ? { asset_keys: assets } : {}), ...(area ? { geometry: area } : {}) },
    }),
  )

const month: Estimate = async () => ({
  credits: null,
  aud: null,
  note: 'Calculated when the month is closed: plan fees, orders and jobs on account, and commitment shortfalls',
})

const study: Estimate = async (call, { study_id, acceptedOptionId }) => {
  const { content } = (await call('orders.tasking.feasibility_studies.list', { id: study_id })) as {
    content: { id: string; options: { id: string; credits: number }[] }[]
  }
  const option = content.find(({ id }) => id === study_id)?.options.find(({ id }) => id === acceptedOptionId)
  return option ? ofCredits(option.credits) : { credits: null, aud: null, note: 'No such option' }
}

const quotation: Estimate = async (call, { quotation_id, decision }) => {
  if (decision === 'REJECTED') return ofCredits(0)
  const { content } = (await call('orders.tasking.quotations.list', { id: quotation_id })) as {
    content: { id: string; creditsPrice: number }[]
  }
  const quotation = content.find(({ id }) => id === quotation_id)
  return quotation ? ofCredits(quotation.creditsPrice) : { credits: null, aud: null, note: 'No such quotation' }
}

const topup: Estimate = async (_call, { aud_cents, credits }) => {
  const bought = typeof credits === 'number' ? credits : Number(aud_cents ?? 0)
  return { credits: bought, aud: bought / CREDITS_PER_AUD, note: 'Charged to the default card' }
}

const approval: Estimate = async (call, { approval_id, decision }) => {
  if (decision === 'REJECTED') return ofCredits(0)
  const response = (await call('billing.approvals.get', { approval_id })) as Fields & { approval?: Fields }
  const { operation, input } = (response.approval ?? response) as { operation?: string; input?: Fields }
  if (operation === undefined || !isPriced(operation) || !input) return { credits: null, aud: null, note: 'The request has no price' }
  return await priceOf(call, operation, input)
}

const nothing: Estimate = async () => ofCredits(0)

const ESTIMATES = {
  'orders.archive.place': estimatedBy('orders.archive.estimate', 'captures', 'splitByDate'),
  'orders.tasking.place': estimatedBy('orders.tasking.estimate', 'groups'),
  'orders.place': estimatedBy('orders.estimate', 'displayName', 'dataProduct', 'params', 'featureCollection', 'tags'),
  'orders.tasking.feasibility_decide': study,
  'orders.tasking.quotation_decide': quotation,
  'orders.cancel': nothing,
  'processing.create': processing,
  'processing.create_and_dispatch': processing,
  'processing.execute': processing,
  'processing.dispatch': nothing,
  'processing.job.register': nothing,
  'clip.create_from_item': clip,
  'clip.create_from_area': clipOfArea,
  'catalog.scene.copy': sceneCopy,
  'billing.topup': topup,
  'billing.approvals.approve': approval,
  'billing.run_monthly_for_org': month,
} satisfies Readonly<Record<string, Estimate>>

/** An operation with an estimate. */
export type PricedOperation = keyof typeof ESTIMATES

export const isPriced = (operation: string): operation is PricedOperation => Object.hasOwn(ESTIMATES, operation)

/** All operations with an estimate. */
export const PRICED: readonly string[] = Object.keys(ESTIMATES)

/** `credits` is null if the price is only known afterwards. Throws the estimate's error, because the call itself would fail alike. */
export async function priceOf(call: CallOperation, operation: string, input: object): Promise<Price> {
  if (!isPriced(operation)) return { credits: null, aud: null, note: 'This operation has no estimate' }
  const estimate: Estimate = ESTIMATES[operation]
  return await estimate(call, input as Fields)
}
