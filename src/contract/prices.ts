/** What a call that spends would cost, from the operation that estimates it. The service alone knows prices. */

export interface Price {
  /** Null where nobody can tell before it is done. */
  credits: number | null
  aud: number | null
  /** In words, where a number is not the whole answer. */
  note?: string
}

/** Any operation, by whoever asks: the client, the command line, a server's own pipeline. */
export type Ask = (operation: string, input: object) => Promise<unknown>

type Fields = Readonly<Record<string, unknown>>
type Estimate = (ask: Ask, input: Fields) => Promise<Price>

const CREDITS_PER_AUD = 100

const ofCredits = (credits: number): Price => ({ credits, aud: credits / CREDITS_PER_AUD })

const pick = (input: Fields, ...names: readonly string[]): Fields =>
  Object.fromEntries(names.filter((name) => input[name] !== undefined).map((name) => [name, input[name]]))

/** It cannot be had as asked, so it has no price. */
export class PriceError extends Error {
  override readonly name = 'PriceError'
}

/** The first number under one of these names, at the top or in `summary`. */
function totalOf(answer: unknown): Price {
  const { summary, ...rest } = answer as Fields & { summary?: Fields }
  const fields = { ...rest, ...summary } as Fields
  const errors = (rest['errors'] ?? []) as readonly { reason?: string; message?: string }[]
  // What cannot be priced would be refused whole: nothing of it has a price.
  if (errors.length > 0) throw new PriceError(errors.map(({ reason, message }) => reason ?? message ?? 'It has no price').join('. '))
  const credits = fields['totalCredits'] ?? fields['total_credits'] ?? fields['credits']
  return typeof credits === 'number' ? ofCredits(credits) : { credits: null, aud: null, note: 'The estimate names no price' }
}

const estimatedBy =
  (operation: string, ...fields: readonly string[]): Estimate =>
  async (ask, input) =>
    totalOf(await ask(operation, pick(input, ...fields)))

const processing: Estimate = async (ask, input) => {
  const { job_types } = (await ask('processing.job_types.list', {})) as { job_types: { id: string; process_id: string }[] }
  const type = job_types.find(({ id }) => id === input['job_type_id'] || id === input['process_id'])
  const process_id = type?.process_id ?? input['process_id'] ?? input['job_type_id']
  return totalOf(await ask('processing.catalog.estimate', { process_id, inputs: input['inputs'] ?? input['input_params'] ?? {} }))
}

const clip: Estimate = async (ask, { source_item_id, aoi_geometry, asset_keys }) =>
  totalOf(
    await ask('processing.catalog.estimate', {
      process_id: 'cog_clip',
      inputs: { item_id: source_item_id, geometry: aoi_geometry, ...(asset_keys === undefined ? {} : { asset_keys }) },
    }),
  )

/** Whatever the mosaics, their ground counts once. */
const clipOfArea: Estimate = async (ask, { area, mosaic_types, aoi_geometry }) => {
  const known = (await ask('clip.area.metadata', { area })) as { name: string; mosaic_types: readonly string[] }
  const unknown = ((mosaic_types ?? []) as readonly string[]).filter((type) => !known.mosaic_types.includes(type))
  if (unknown.length > 0) throw new PriceError(`${known.name} has no mosaic ${unknown.join(', ')}; it has ${known.mosaic_types.join(', ')}`)
  return totalOf(await ask('processing.catalog.estimate', { process_id: 'cog_clip', inputs: { geometry: aoi_geometry } }))
}

const month: Estimate = async () => ({
  credits: null,
  aud: null,
  note: 'What is owed is added up when the month is closed: plan fees, orders and jobs on account, and shortfalls of commitments',
})

const study: Estimate = async (ask, { study_id, acceptedOptionId }) => {
  const { content } = (await ask('orders.tasking.feasibility_studies.list', { id: study_id })) as {
    content: { id: string; options: { id: string; credits: number }[] }[]
  }
  const option = content.find(({ id }) => id === study_id)?.options.find(({ id }) => id === acceptedOptionId)
  return option ? ofCredits(option.credits) : { credits: null, aud: null, note: 'There is no such option' }
}

const quotation: Estimate = async (ask, { quotation_id, decision }) => {
  if (decision === 'REJECTED') return ofCredits(0)
  const { content } = (await ask('orders.tasking.quotations.list', { id: quotation_id })) as {
    content: { id: string; creditsPrice: number }[]
  }
  const quotation = content.find(({ id }) => id === quotation_id)
  return quotation ? ofCredits(quotation.creditsPrice) : { credits: null, aud: null, note: 'There is no such quotation' }
}

const topup: Estimate = async (_ask, { aud_cents, credits }) => {
  const bought = typeof credits === 'number' ? credits : Number(aud_cents ?? 0)
  return { credits: bought, aud: bought / CREDITS_PER_AUD, note: 'Charged to the default card' }
}

const approval: Estimate = async (ask, { approval_id, decision }) => {
  if (decision === 'REJECTED') return ofCredits(0)
  const answer = (await ask('billing.approvals.get', { approval_id })) as Fields & { approval?: Fields }
  const { operation, input } = (answer.approval ?? answer) as { operation?: string; input?: Fields }
  if (operation === undefined || !isPriced(operation) || !input) return { credits: null, aud: null, note: 'The request names no price' }
  return await priceOf(ask, operation, input)
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
  'billing.topup': topup,
  'billing.approvals.approve': approval,
  'billing.run_monthly_for_org': month,
} satisfies Readonly<Record<string, Estimate>>

/** An operation whose price can be asked for. */
export type PricedOperation = keyof typeof ESTIMATES

export const isPriced = (operation: string): operation is PricedOperation => Object.hasOwn(ESTIMATES, operation)

/** Every operation whose price can be asked for. */
export const PRICED: readonly string[] = Object.keys(ESTIMATES)

/** Null: nobody can say before it is done. A refusal of the estimate is thrown: the call itself would be refused alike. */
export async function priceOf(ask: Ask, operation: string, input: object): Promise<Price> {
  if (!isPriced(operation)) return { credits: null, aud: null, note: 'No operation estimates this one' }
  const estimate: Estimate = ESTIMATES[operation]
  return await estimate(ask, input as Fields)
}
