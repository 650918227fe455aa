/** Planet's Tasking API for flexible tasking: an order waits for its window, is in progress, and is fulfilled by one capture. */
import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { sqKmOf } from '#core/area.ts'
import type { Clock } from '#core/clock.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import { Refused } from './orders.ts'

export interface TaskingOrder {
  readonly id: string
  readonly name: string
  readonly createdAt: Date
  readonly geometry: AreaGeometry
  readonly body: Readonly<Record<string, unknown>>
  isCancelled: boolean
}

interface TaskingParts {
  readonly clock: Clock
  readonly stepSeconds: number
  /** An image of the place, taken now; the same for the same order. */
  readonly take: (order: TaskingOrder) => string | null
  /** Whether the next order is placed, and answered with 502. */
  readonly losesPlacement: () => boolean
  /** Instead of the state of orders. */
  readonly status: () => string | null
}

/** Steps until an order is in progress, and until it is fulfilled. */
const [PENDING_STEPS, STEPS] = [2, 5]
const MAX_SQ_KM = 2_000

export class TaskingBook {
  readonly orders: TaskingOrder[] = []
  readonly #parts: TaskingParts

  constructor(parts: TaskingParts) {
    this.#parts = parts
  }

  get(id: string): TaskingOrder {
    const order = this.orders.find((each) => each.id === id)
    if (!order) throw new Refused(404, { detail: 'Not found.' })
    return order
  }

  place(body: Record<string, unknown>): TaskingOrder {
    const { name, geometry } = requireTaskable(body)
    const order = { id: randomUUID(), name, createdAt: this.#parts.clock.now(), geometry, body, isCancelled: false }
    this.orders.push(order)
    return order
  }

  #state({ createdAt, isCancelled }: TaskingOrder): string {
    if (isCancelled) return 'CANCELLED'
    const { clock, stepSeconds } = this.#parts
    const step = Math.floor((clock.now().getTime() - createdAt.getTime()) / 1000 / stepSeconds)
    return step < 1 ? 'RECEIVED' : step < PENDING_STEPS ? 'PENDING' : step < STEPS ? 'IN_PROGRESS' : 'FULFILLED'
  }

  cancel(order: TaskingOrder): void {
    if (this.#state(order) === 'FULFILLED' || order.isCancelled) throw new Refused(400, { detail: 'This order can no longer be cancelled' })
    order.isCancelled = true
  }

  view(order: TaskingOrder) {
    const { body, geometry } = order
    return {
      id: order.id,
      name: order.name,
      status: this.#parts.status() ?? this.#state(order),
      geometry,
      original_geometry: geometry,
      start_time: body['start_time'] ?? null,
      end_time: body['end_time'] ?? null,
      scheduling_type: 'FLEXIBLE',
      requested_sqkm: sqKmOf(geometry),
      created_time: order.createdAt.toISOString(),
    }
  }

  captures(order: TaskingOrder) {
    const itemId = this.#state(order) === 'FULFILLED' ? this.#parts.take(order) : null
    if (itemId === null) return []
    return [{ id: order.id, order_id: order.id, status: 'PUBLISHED', fulfilling: true, item_ids: [itemId], item_types: ['SkySatCollect'] }]
  }

  serve(app: FastifyInstance): void {
    type Body = { Body: Record<string, unknown> }
    type One = { Params: { id: string } }
    const base = '/tasking/v2'
    app.post<Body>(`${base}/pricing/`, async ({ body }) => {
      const { geometry } = requireTaskable(body)
      return { estimated_quota_cost: Math.max(25, Math.round(sqKmOf(geometry))), units: 'SQKM', determined_by: 'SIZE' }
    })
    app.post<Body>(`${base}/orders/`, async ({ body }, reply) => {
      const order = this.place(body)
      if (this.#parts.losesPlacement()) return reply.status(502).send({ detail: 'Bad gateway' })
      return reply.status(201).send(this.view(order))
    })
    app.get<{ Querystring: { name__icontains?: string } }>(`${base}/orders/`, async ({ query }) => {
      const wanted = (query.name__icontains ?? '').toLowerCase()
      const results = this.orders.filter(({ name }) => name.toLowerCase().includes(wanted)).map((order) => this.view(order))
      return { count: results.length, next: null, previous: null, results }
    })
    app.get<One>(`${base}/orders/:id/`, async ({ params }) => this.view(this.get(params.id)))
    app.delete<One>(`${base}/orders/:id/`, async ({ params }, reply) => {
      this.cancel(this.get(params.id))
      return await reply.status(204).send()
    })
    app.get<{ Querystring: { order_id?: string } }>(`${base}/captures/`, async ({ query }) => {
      const results = this.captures(this.get(String(query.order_id)))
      return { count: results.length, next: null, previous: null, results }
    })
  }
}

function requireTaskable({ name, geometry, start_time: start, end_time: end }: Record<string, unknown>) {
  const area = geometry as AreaGeometry | undefined
  if (typeof name !== 'string' || name === '') throw new Refused(400, { name: ['This field is required.'], detail: 'name is required' })
  if (area?.type !== 'Polygon') throw new Refused(400, { detail: 'geometry must be a Point, a LineString or a Polygon' })
  if (sqKmOf(area) > MAX_SQ_KM) throw new Refused(400, { detail: `The area cannot be tessellated: it is larger than ${MAX_SQ_KM} sqkm` })
  if (Date.parse(String(start)) >= Date.parse(String(end))) throw new Refused(400, { detail: 'end_time must be after start_time' })
  return { name, geometry: area }
}
