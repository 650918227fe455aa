/**
 * Planet's flexible tasking: Planet chooses when it takes the image within a window. Once it has one that meets the specification, the
 * image is an item of the catalogue, and is ordered there like any other.
 */
import { sqKmOf } from '#core/area.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import { ask } from '#adapters/vendors/ask.ts'
import type { Host } from '#adapters/vendors/host.ts'
import { VendorError, type CallOptions, type VendorErrorCode } from '#ports/vendors/call.ts'
import type { Product } from '#ports/vendors/source.ts'
import type { Study, TaskingRequest } from '#ports/vendors/tasking.ts'
import { schemas, type Tasking } from './wire.ts'

const ORDERS = '/tasking/v2/orders/'

/** The only option of a study. */
const FLEXIBLE = 'flexible'

export interface TaskingApi {
  /** Asks Planet what the image would use of the quota, which it answers only for what it can task. */
  study(request: TaskingRequest, options: CallOptions): Promise<Study>
  /** The same study again, from its ID. */
  studyOf(studyId: string): Study
  find(name: string, options: CallOptions): Promise<Tasking | null>
  get(id: string, options: CallOptions): Promise<Tasking>
  create(name: string, area: AreaGeometry, params: Readonly<Record<string, unknown>>, options: CallOptions): Promise<Tasking>
  /** `refused` if it is too late. */
  cancel(id: string, options: CallOptions): Promise<Tasking>
  /** Images that fulfil an order; empty until they are published. */
  itemIds(id: string, options: CallOptions): Promise<readonly string[]>
}

interface TaskingParts {
  readonly product: (id: string) => Product
  /** Null: by contract. */
  readonly centsFor: (product: Product, km2: number) => number | null
}

export const createTasking = (host: Host, parts: TaskingParts): TaskingApi => new FlexibleTasking(host, parts)

class FlexibleTasking implements TaskingApi {
  readonly #host: Host
  readonly #parts: TaskingParts

  constructor(host: Host, parts: TaskingParts) {
    this.#host = host
    this.#parts = parts
  }

  async study({ reference, productId, area, params }: TaskingRequest, options: CallOptions): Promise<Study> {
    const { product, centsFor } = this.#parts
    const cents = centsFor(product(productId), area.type === 'Point' ? 0 : sqKmOf(area))
    const request = {
      method: 'POST' as const,
      path: '/tasking/v2/pricing/',
      body: bodyOf(reference, area, params),
      isRepeatable: true,
      ...options,
    }
    try {
      const price = await ask(this.#host, schemas.taskingPrice, request, 'price')
      if (!price) throw this.#error('refused', 'does not task through this account')
      const quota = price.estimated_quota_cost == null ? '' : `${price.estimated_quota_cost} ${price.units ?? ''}`.trim()
      return this.studyOf(JSON.stringify({ reference, cents, quota, reason: null }))
    } catch (error) {
      if (!(error instanceof VendorError) || error.code !== 'refused') throw error
      return this.studyOf(JSON.stringify({ reference, cents, quota: '', reason: error.message.slice(0, 300) }))
    }
  }

  studyOf(id: string): Study {
    const { reference, cents, quota, reason } = answerIn(id)
    const description = `Planet chooses the time within the window${quota === '' ? '' : `; it estimates ${quota} of quota`}`
    const option = {
      id: FLEXIBLE,
      description,
      cents,
      acquisitionStart: null,
      acquisitionEnd: null,
      maxCloudCover: null,
      maxOffNadirDeg: null,
    }
    return { id, reference, status: reason === null ? 'answered' : 'infeasible', reason, options: reason === null ? [option] : [] }
  }

  async find(name: string, options: CallOptions): Promise<Tasking | null> {
    const path = `${ORDERS}?name__icontains=${encodeURIComponent(name)}`
    const list = await ask(this.#host, schemas.taskings, { path, ...options }, 'list of tasking orders')
    if (!list) throw this.#error('invalid-response', 'has no list of tasking orders')
    const ours = list.results.find((order) => order.name === name)
    if (ours) return await this.get(ours.id, options)
    // Ours could be on any page of a list that is not filtered.
    if (list.results.length > 0)
      throw this.#error('unavailable', 'does not filter its tasking orders by name, so ours cannot be looked for')
    return null
  }

  async get(id: string, options: CallOptions): Promise<Tasking> {
    const order = await ask(this.#host, schemas.tasking, { path: pathOf(id), ...options }, 'tasking order')
    if (!order) throw this.#error('not-found', 'has no such order')
    if (order.id !== id) throw this.#error('invalid-response', 'returned another object than requested')
    return order
  }

  async create(name: string, area: AreaGeometry, params: Readonly<Record<string, unknown>>, options: CallOptions): Promise<Tasking> {
    const request = { method: 'POST' as const, path: ORDERS, body: bodyOf(name, area, params), ...options }
    const order = await ask(this.#host, schemas.tasking, request, 'tasking order')
    if (!order || order.name !== name) throw this.#error('invalid-response', 'confirmed another order than requested')
    return order
  }

  async cancel(id: string, options: CallOptions): Promise<Tasking> {
    const before = await this.get(id, options)
    if (before.status === 'CANCELLED') return before
    await this.#host.json({ method: 'DELETE', path: pathOf(id), isRepeatable: true, ...options })
    const order = await this.get(id, options)
    if (order.status !== 'CANCELLED' && order.status !== 'PENDING_CANCELLATION')
      throw this.#error('refused', `keeps the order, which is '${order.status}'`)
    return order
  }

  async itemIds(id: string, options: CallOptions): Promise<readonly string[]> {
    const path = `/tasking/v2/captures/?order_id=${encodeURIComponent(id)}&fulfilling=true`
    const page = await ask(this.#host, schemas.captures, { path, ...options }, 'list of captures')
    const published = page?.results.filter(({ status }) => status === 'PUBLISHED') ?? []
    return [...new Set(published.flatMap(({ item_ids: ids }) => ids ?? []))]
  }

  #error(code: VendorErrorCode, what: string): VendorError {
    return new VendorError(code, this.#host.name, `${this.#host.name} ${what}`)
  }
}

const pathOf = (id: string): string => `${ORDERS}${encodeURIComponent(id)}/`

/** Contract and product are the defaults of the key. Planet counts the angle from the horizon. */
function bodyOf(name: string, geometry: TaskingRequest['area'], params: Readonly<Record<string, unknown>>): object {
  const { acquisitionStart, acquisitionEnd, maxOffNadirAngle } = params
  return {
    name,
    geometry,
    start_time: acquisitionStart,
    end_time: acquisitionEnd,
    ...(typeof maxOffNadirAngle === 'number' ? { sat_elevation_angle_min: 90 - maxOffNadirAngle } : {}),
  }
}

interface Answer {
  readonly reference: string
  readonly cents: number | null
  readonly quota: string
  readonly reason: string | null
}

/** Planet keeps no studies: the ID is the answer. */
const answerIn = (id: string): Answer => JSON.parse(id) as Answer
