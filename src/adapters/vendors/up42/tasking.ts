/**
 * New imagery at UP42. The order is placed first and costs nothing; UP42 then studies it, quotes a price, and charges when the
 * quotation is accepted. The ID of a study and of a quotation is therefore that of the order.
 */
import { VendorError, type CallOptions, type VendorErrorCode } from '#ports/vendors/call.ts'
import type { Quotation, QuotationRequest, Study, TaskingRequest } from '#ports/vendors/tasking.ts'
import type { Host } from '#adapters/vendors/host.ts'
import { requireAnswer } from '#adapters/vendors/require-answer.ts'
import { findTagged, getOrder, referenceOf, sendOrder, type OrderForm } from './orders.ts'
import { schemas, type Order, type Quotation as Quoted } from './wire.ts'

const ENDED: Readonly<Record<string, string>> = {
  FAILED_PERMANENTLY: 'UP42 cannot acquire this area with these parameters',
  CANCELED: 'The order was cancelled at UP42',
}
const NO_STUDY = 'As requested: UP42 needs no study for this order'
const UNDECIDED = 'NOT_DECIDED'

/** The order form of a product, filled in; `forbidden` if its licence was not accepted. */
type FormOf = (asked: Pick<OrderForm, 'productId' | 'params' | 'area'>, options: CallOptions) => Promise<OrderForm>

export class Up42Tasking {
  readonly #host: Host
  readonly #formOf: FormOf

  constructor(host: Host, formOf: FormOf) {
    this.#host = host
    this.#formOf = formOf
  }

  async requestStudy(request: TaskingRequest, options: CallOptions): Promise<Study> {
    return await this.#studyOf(await this.#placeOnce(request, options), options)
  }

  async study(orderId: string, options: CallOptions): Promise<Study> {
    return await this.#studyOf(await getOrder(this.#host, orderId, options), options)
  }

  /** With an option, the study of the same order is decided; otherwise the order is placed. */
  async requestQuotation({ studyOptionId, ...request }: QuotationRequest, options: CallOptions): Promise<Quotation> {
    if (studyOptionId === undefined) return await this.quotation((await this.#placeOnce(request, options)).id, options)
    const [orderId, studyId, optionId] = studyOptionId.split(':')
    if (!orderId) throw this.#error('refused', 'has no such option')
    if (studyId && optionId) await this.#decideStudy({ orderId, studyId, optionId }, options)
    return await this.quotation(orderId, options)
  }

  async quotation(orderId: string, options: CallOptions): Promise<Quotation> {
    const order = await getOrder(this.#host, orderId, options)
    const quoted = await this.#quoted(orderId, options)
    const answer = { id: orderId, reference: referenceOf(order), reason: null, cents: null }
    if (quoted && quoted.decision !== 'REJECTED') return { ...answer, status: 'issued', cents: quoted.creditsPrice }
    const reason = quoted ? 'The quotation was rejected at UP42' : (ENDED[order.status] ?? null)
    return reason === null ? { ...answer, status: 'waiting' } : { ...answer, status: 'refused', reason }
  }

  /** Whether the quotation of an order was accepted, which is when it is bought. */
  async isBought(orderId: string, options: CallOptions): Promise<boolean> {
    return (await this.#quoted(orderId, options))?.decision === 'ACCEPTED'
  }

  /** Accepts the quotation. UP42 charges for it. */
  async buy(orderId: string, options: CallOptions): Promise<void> {
    const quoted = await this.#quoted(orderId, options)
    if (quoted?.decision === 'ACCEPTED') return
    if (quoted?.decision !== UNDECIDED) throw this.#error('refused', 'has withdrawn its quotation')
    await this.#decide(quoted, 'ACCEPTED', options)
  }

  /** Rejects the quotation, which ends the order. False if there is none that waits for a decision. */
  async reject(orderId: string, options: CallOptions): Promise<boolean> {
    const quoted = await this.#quoted(orderId, options)
    if (quoted?.decision !== UNDECIDED) return false
    await this.#decide(quoted, 'REJECTED', options)
    return true
  }

  async #decide({ id, orderId }: Quoted, decision: 'ACCEPTED' | 'REJECTED', options: CallOptions): Promise<void> {
    const path = `/v2/tasking/quotation/${encodeURIComponent(id)}`
    const request = { method: 'PATCH' as const, path, body: { decision }, ...options }
    const decided = await requireAnswer(this.#host, schemas.quotation, request, 'quotation')
    if (decided.orderId !== orderId || decided.decision !== decision)
      throw this.#error('invalid-response', 'confirmed another decision than requested')
  }

  async #studyOf(order: Order, options: CallOptions): Promise<Study> {
    const answer = { id: order.id, reference: referenceOf(order), reason: null, options: [] }
    const reason = ENDED[order.status]
    if (reason !== undefined) return { ...answer, status: 'infeasible', reason }
    const path = `/v2/tasking/feasibility-studies?orderId=${encodeURIComponent(order.id)}`
    const { content } = await requireAnswer(this.#host, schemas.studies, { path, ...options }, 'list of studies')
    const study = content.find(({ orderId, options: offered }) => orderId === order.id && offered && offered.length > 0)
    if (study) {
      const offered = study.options!.map(({ id, description }) => optionOf(`${order.id}:${study.id}:${id}`, description ?? ''))
      return { ...answer, status: 'answered', options: offered }
    }
    // Some products are studied only if they must be: the quotation comes at once.
    if (await this.#quoted(order.id, options)) return { ...answer, status: 'answered', options: [optionOf(`${order.id}::`, NO_STUDY)] }
    return { ...answer, status: 'waiting' }
  }

  async #decideStudy(
    { orderId, studyId, optionId }: { orderId: string; studyId: string; optionId: string },
    options: CallOptions,
  ): Promise<void> {
    const list = `/v2/tasking/feasibility-studies?orderId=${encodeURIComponent(orderId)}`
    const { content } = await requireAnswer(this.#host, schemas.studies, { path: list, ...options }, 'list of studies')
    const study = content.find(({ id }) => id === studyId)
    if (!study) throw this.#error('refused', 'has withdrawn its study')
    if (study.decision === UNDECIDED) {
      const path = `/v2/tasking/feasibility-studies/${encodeURIComponent(studyId)}`
      const request = { method: 'PATCH' as const, path, body: { acceptedOptionId: optionId }, ...options }
      await requireAnswer(this.#host, schemas.study, request, 'study')
    } else if (study.decisionOption?.id !== optionId) throw this.#error('refused', 'has another option of this study accepted already')
  }

  async #quoted(orderId: string, options: CallOptions): Promise<Quoted | null> {
    const path = `/v2/tasking/quotation?orderId=${encodeURIComponent(orderId)}&sort=createdAt%2Cdesc`
    const { content } = await requireAnswer(this.#host, schemas.quotations, { path, ...options }, 'list of quotations')
    return content.find((quotation) => quotation.orderId === orderId) ?? null
  }

  async #placeOnce({ reference, productId, area, params }: TaskingRequest, options: CallOptions): Promise<Order> {
    const found = await findTagged(this.#host, { reference, createdAt: null }, options)
    if (found) return found
    if (area.type === 'MultiPolygon' && area.coordinates.length > 1) throw this.#error('refused', ONE_AREA)
    const one = area.type === 'MultiPolygon' ? { type: 'Polygon' as const, coordinates: area.coordinates[0]! } : area
    return await sendOrder(this.#host, reference, await this.#formOf({ productId, params, area: one }, options), options)
  }

  #error(code: VendorErrorCode, what: string): VendorError {
    return new VendorError(code, this.#host.name, `${this.#host.name} ${what}`)
  }
}

export const ONE_AREA = 'takes one area without gaps per order: order several areas as several groups'

/** UP42 states the rest in words only, and the price in the quotation. */
const optionOf = (id: string, description: string): Study['options'][number] => ({
  id,
  description,
  cents: null,
  acquisitionStart: null,
  acquisitionEnd: null,
  maxCloudCover: null,
  maxOffNadirDeg: null,
})
