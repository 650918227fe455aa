/** Orders in tests: an area, scenes of the simulated vendors over it, and the background work that a worker would do. */
import { setTimeout as pause } from 'node:timers/promises'
import { newId } from '#core/ids.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import askVendor from '#domains/orders/request-terms.task.ts'
import deliver from '#domains/orders/deliver.task.ts'
import place from '#domains/orders/place.task.ts'
import poll from '#domains/orders/poll.task.ts'
import withdraw from '#domains/orders/withdraw.task.ts'
import type { Org, World } from '../support/world.ts'

/** A square of about 1.1 km near Paris, or as many degrees a side as are asked for. */
export const square = (west = 2.3, south = 48.2, degrees = 0.01): AreaGeometry => ({
  type: 'Polygon',
  coordinates: [
    [
      [west, south],
      [west + degrees, south],
      [west + degrees, south + degrees],
      [west, south + degrees],
      [west, south],
    ],
  ],
})

export const features = (...geometries: object[]) => ({
  type: 'FeatureCollection',
  features: geometries.map((geometry) => ({ type: 'Feature', properties: {}, geometry })),
})

/** Scenes of a host over the square, newest first. */
export async function scenes(w: World, host = 'sandbox-hr', limit = 5): Promise<{ id: string; datetime: string }[]> {
  const now = w.clock.now()
  const page = await w.platform.services.vendors
    .catalog(host)
    .search({ bbox: [2.3, 48.2, 2.31, 48.21], from: new Date(now.getTime() - 90 * 86_400_000), to: now, limit })
  return page.scenes.map(({ id, datetime }) => ({ id, datetime: datetime! }))
}

export const grant = async (w: World, org: Org, credits: number) =>
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits, reason: 'for a test' })

export const balance = async (w: World, org: Org): Promise<[available: number, reserved: number]> => {
  const { available_credits, reserved_credits } = await w.ok(org.owner.token, 'billing.credits.balance')
  return [available_credits, reserved_credits]
}

export const placeArchive = async (w: World, org: Org, more: object = {}, key: string = newId(), token = org.owner.token) => {
  const [scene] = await scenes(w)
  return await w.call(
    token,
    'orders.archive.place',
    { projectId: org.projectId, captures: [{ id: scene!.id, geometry: square(), host: 'sandbox-hr' }], ...more },
    { 'idempotency-key': key },
  )
}

const ROUNDS = 600
/** A vendor takes five seconds for each step; later rounds only wait for its files, and a session must outlive them. */
const STEP_SECONDS = 6
const LATER_SECONDS = 1
const FIRST_ROUNDS = 10
/** Files are made in another process, at the speed of the machine: a busy one gets minutes. */
const PAUSE_MS = 100
const LATER_PAUSE_MS = 500
const SHORT_PAUSES = 100

/** What a worker does by itself: everything that is due, again and again, until orders ask for nothing more. */
export async function work(w: World, orderIds: readonly string[], isDone: (order: Standing) => boolean = ended): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    await step(w, orderIds, round < FIRST_ROUNDS ? STEP_SECONDS : LATER_SECONDS)
    const rows = await w.db
      .selectFrom('imagery_order')
      .select(['status', 'sub_status as subStatus'])
      .where('id', 'in', [...orderIds])
      .execute()
    if (rows.every(isDone)) return
    await pause(round < SHORT_PAUSES ? PAUSE_MS : LATER_PAUSE_MS)
  }
  throw new Error('the orders did not come to an end')
}

interface Standing {
  status: string
  subStatus: string | null
}

const ended = ({ status }: Pick<Standing, 'status'>): boolean => ['fulfilled', 'failed', 'cancelled'].includes(status)
export const until =
  (...states: string[]) =>
  ({ status, subStatus }: Standing): boolean =>
    ended({ status }) || states.includes(status) || (subStatus !== null && states.includes(subStatus))

/** One round of it. */
export async function step(w: World, orderIds: readonly string[], seconds = STEP_SECONDS): Promise<void> {
  const groups = () =>
    w.db
      .selectFrom('order_group')
      .select(['id', 'status'])
      .where('order_id', 'in', [...orderIds])
      .execute()
  for (const { id, status } of await groups()) {
    if (status === 'deciding') await w.runTask(askVendor, { group_id: id })
    if (status === 'waiting') await w.runTask(place, { group_id: id })
    if (status === 'delivering') await w.runTask(deliver, { group_id: id }).catch(() => {}) // As the queue does: again later.
    if (status === 'cancelled') await w.runTask(withdraw, { group_id: id })
  }
  for (const order_id of orderIds) await w.runTask(poll, { order_id })
  w.clock.advance({ seconds })
}

export const eventsOf = async (w: World, orderId: string): Promise<string[]> => {
  const rows = await w.db.selectFrom('event').select('type').where('entity_id', '=', orderId).orderBy('seq').execute()
  return rows.map(({ type }) => type)
}
