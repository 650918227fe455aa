/** What scenes cost over an area, as the service estimates it. */
import type { AreaShape } from '../../map/geo.ts'
import type { Output } from '../../api/contract.ts'
import { captureOf } from '../../state/cart.ts'
import type { Scene } from '../../state/scene.ts'

type Estimate = Output<'orders.archive.estimate'>
type BilledByVendor = Estimate['groups'][number]['billedByVendor']

/** The price of a scene that is ordered alone, or why it cannot be ordered. */
export type ScenePrice = { credits: number; billedByVendor: BilledByVendor } | { refusal: string }

export type ScenePrices = ReadonlyMap<string, ScenePrice>

/** More are not priced before they are selected. */
const MAX_PRICED = 1_000
const MAX_CAPTURES = 100
/** Of all geometries of a call, as JSON: a request body has at most 256 KiB. */
const MAX_CHARACTERS = 150_000

export const isRefused = (price: ScenePrice | undefined): price is { refusal: string } => price !== undefined && 'refusal' in price

/** Vendors that price each order separately are asked only about the selected scene. */
const isPricedInList = ({ isForSale, product, hasListPrice }: Scene) => isForSale && (product === null || hasListPrice)

/** Scenes whose price is shown in the list, in calls of a limited size: each capture repeats the area. */
export function pricedTogether(scenes: readonly Scene[], area: AreaShape | null): Scene[][] {
  const priced = scenes.filter((scene) => isPricedInList(scene) && scene.geometry !== null).slice(0, MAX_PRICED)
  const longest = Math.max(1, ...(area ? [area] : priced.map(({ geometry }) => geometry)).map((shape) => JSON.stringify(shape).length))
  const size = Math.max(1, Math.min(MAX_CAPTURES, Math.floor(MAX_CHARACTERS / longest)))
  return [...Map.groupBy(priced, ({ host }) => host).values()].flatMap((ofHost) =>
    Array.from({ length: Math.ceil(ofHost.length / size) }, (_, part) => ofHost.slice(part * size, (part + 1) * size)),
  )
}

export const pricingInput = (scenes: readonly Scene[], area: AreaShape | null) => ({
  captures: scenes.map((scene) => captureOf({ ...scene, area })),
  separately: true,
})

/** By the key of the scene. */
export function pricesIn({ groups, errors }: Pick<Estimate, 'groups' | 'errors'>, scenes: readonly Scene[]): [string, ScenePrice][] {
  const keyOf = (id: string, host: string | null | undefined) => scenes.find((scene) => scene.id === id && scene.host === host)?.key
  return [
    ...groups.flatMap(({ captures, credits, billedByVendor }) =>
      captures.map(({ id, host }): [string | undefined, ScenePrice] => [keyOf(id, host), { credits, billedByVendor }]),
    ),
    ...errors.map(({ index, reason }): [string | undefined, ScenePrice] => [scenes[index]?.key, { refusal: reason }]),
  ].filter((entry): entry is [string, ScenePrice] => entry[0] !== undefined)
}

const UNKNOWN = Number.MAX_SAFE_INTEGER - 1
const REFUSED = Number.MAX_SAFE_INTEGER

/** Credits to sort by: open data and own items are free; unknown prices come last but one, and what cannot be ordered last. */
export function creditsToSort({ key, isForSale }: Scene, prices: ScenePrices): number {
  if (!isForSale) return 0
  const price = prices.get(key)
  if (price === undefined) return UNKNOWN
  if ('refusal' in price) return REFUSED
  return price.billedByVendor === null ? price.credits : UNKNOWN
}

/** The amount that a vendor bills directly. */
export const amountText = ({ currency, amount }: NonNullable<BilledByVendor>): string =>
  amount === null ? 'By contract' : `${currency} ${amount.toFixed(2)}`
