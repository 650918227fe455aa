/** Orders of the simulated Orders API: from queued to running to their files. */
import { randomUUID } from 'node:crypto'
import type { Clock } from '#core/clock.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import type { SceneRenderer } from '../scene-renderer.ts'
import { filesOf, manifestOf, shownIn, type ManifestFaults, type OrderedScene, type OrderFile } from './delivery.ts'
import { BUNDLES } from './items.ts'

type Body = Record<string, unknown>

export interface PlacedOrder {
  readonly id: string
  readonly createdAt: Date
  readonly body: Body
  readonly name: string
  readonly itemIds: readonly string[]
  readonly bundle: string
  readonly aoi: AreaGeometry | null
  readonly isPartial: boolean
  /** Scenes that fail. */
  readonly failing: readonly string[]
  isCancelled: boolean
  /** Once it has ended. */
  files: { readonly all: readonly OrderFile[]; readonly manifest: Buffer } | null
}

/** An error of the API: 400 and more, with messages for the request and for its fields. */
export class Refused extends Error {
  readonly status: number
  readonly body: object
  constructor(status: number, body: object) {
    super(JSON.stringify(body))
    this.status = status
    this.body = body
  }
}

const unacceptable = (field: string, message: string): Refused =>
  new Refused(400, { field: { [field]: [{ message }] }, general: [{ message: 'Unable to accept order' }] })

const MAX_ITEMS = 500
/** Steps that an order waits, and those until it has ended. */
const [QUEUED_STEPS, STEPS] = [1, 8]
const TOOLS = ['bandmath', 'clip', 'composite', 'coregister', 'file_format', 'harmonize', 'reproject', 'tile', 'toar']
const LINK_SECONDS = 600

interface OrderFaults extends ManifestFaults {
  /** Instead of the state of orders. */
  readonly status: string | null
  /** How many scenes of the next order fail. */
  failedItems: number
}

interface BookParts {
  readonly clock: Clock
  readonly stepSeconds: number
  readonly renderer: SceneRenderer
  readonly faults: OrderFaults
  /** Null if there is no such scene. */
  readonly ordered: (id: string) => OrderedScene | null
  readonly apiUrl: () => string
}

export class OrderBook {
  readonly orders: PlacedOrder[] = []
  readonly links = new Map<string, { orderId: string; path: string; expiresAt: number }>()
  readonly #parts: BookParts

  constructor(parts: BookParts) {
    this.#parts = parts
  }

  get(id: string, message: string): PlacedOrder {
    const order = this.orders.find((each) => each.id === id)
    if (!order) throw new Refused(404, { message })
    return order
  }

  /** Checks everything before anything is stored. */
  place(body: Body): PlacedOrder {
    const { name, products, tools = [], order_type: orderType = 'full' } = body
    if (typeof name !== 'string' || name === '') throw unacceptable('Name', 'name is required')
    const [product, second] = (Array.isArray(products) ? products : []) as Record<string, unknown>[]
    if (!product || second) throw unacceptable('Products', 'One product is simulated')
    const { item_ids: itemIds, item_type: itemType, product_bundle: bundle } = product
    if (!BUNDLES[String(itemType)]?.[String(bundle)])
      throw unacceptable('Products', `Bad item type '${itemType}' for bundle type '${bundle}'`)
    if (!Array.isArray(itemIds) || itemIds.length === 0 || itemIds.length > MAX_ITEMS)
      throw unacceptable('Products', `From 1 to ${MAX_ITEMS} items can be ordered`)
    for (const id of itemIds as string[])
      if (this.#parts.ordered(id)?.item.properties.item_type !== itemType)
        throw unacceptable('Details', `Item ID ${id} / Item Type ${itemType} doesn't exist`)
    const { faults, clock } = this.#parts
    const order: PlacedOrder = {
      id: randomUUID(),
      createdAt: clock.now(),
      body,
      name,
      itemIds: itemIds as string[],
      bundle: String(bundle),
      aoi: clipAreaOf(tools),
      isPartial: orderType === 'partial',
      failing: (itemIds as string[]).slice(0, faults.failedItems),
      isCancelled: false,
      files: null,
    }
    faults.failedItems = 0
    this.orders.push(order)
    return order
  }

  #step({ createdAt }: PlacedOrder): number {
    const { clock, stepSeconds } = this.#parts
    return Math.min(STEPS, Math.floor((clock.now().getTime() - createdAt.getTime()) / 1000 / stepSeconds))
  }

  cancel(order: PlacedOrder): void {
    if (order.isCancelled || this.#step(order) >= QUEUED_STEPS) throw new Refused(409, { message: 'Order not in a cancellable state' })
    order.isCancelled = true
  }

  /** Scenes that fail: by a fault, or because the area does not touch them. */
  #failures(order: PlacedOrder): string[] {
    return order.itemIds.filter((id) => order.failing.includes(id) || !shownIn(this.#parts.ordered(id)!, order))
  }

  async state(order: PlacedOrder): Promise<string> {
    if (order.isCancelled) return 'cancelled'
    const step = this.#step(order)
    if (step < STEPS) return step < QUEUED_STEPS ? 'queued' : 'running'
    const failed = this.#failures(order).length
    if (failed === order.itemIds.length || (failed > 0 && !order.isPartial)) return 'failed'
    if (!(await this.files(order))) return 'running'
    return failed > 0 ? 'partial' : 'success'
  }

  /** Null while they are being made. */
  async files(order: PlacedOrder): Promise<PlacedOrder['files']> {
    if (order.files) return order.files
    const { renderer, ordered, faults } = this.#parts
    const failures = this.#failures(order)
    const scenes = order.itemIds.filter((id) => !failures.includes(id)).map((id) => ordered(id)!)
    const all = await filesOf(renderer, { ...order, scenes })
    if (all) order.files ??= { all, manifest: manifestOf(all, faults) }
    return order.files
  }

  /** As the API lists it, and with links to its files if it has ended. */
  async view(order: PlacedOrder, hasLinks: boolean) {
    const { faults, clock, apiUrl } = this.#parts
    const state = await this.state(order)
    const failures = state === 'partial' || state === 'failed' ? this.#failures(order) : []
    const hasFiles = hasLinks && (state === 'success' || state === 'partial')
    const paths = hasFiles ? [...order.files!.all.map(({ path }) => path), 'manifest.json'] : []
    return {
      _links: {
        _self: `${apiUrl()}/compute/ops/orders/v2/${order.id}`,
        ...(hasFiles ? { results: paths.map((path) => this.#link(order, path)) } : {}),
      },
      created_on: order.createdAt.toISOString(),
      error_hints: failures.map((id) => `Item ${id}: the clip AOI does not cover any data`),
      id: order.id,
      last_message: { queued: 'Preparing order', cancelled: 'Order cancelled' }[state] ?? 'Manifest delivery completed',
      last_modified: clock.now().toISOString(),
      name: order.name,
      order_type: order.isPartial ? 'partial' : 'full',
      products: order.body['products'],
      source_type: 'scenes',
      state: faults.status ?? state,
      tools: order.body['tools'] ?? [],
    }
  }

  /** Each time another link, with a token that expires. */
  #link({ id }: PlacedOrder, path: string) {
    const token = randomUUID()
    const expiresAt = this.#parts.clock.now().getTime() + LINK_SECONDS * 1000
    this.links.set(token, { orderId: id, path, expiresAt })
    return {
      delivery: 'success',
      expires_at: new Date(expiresAt).toISOString(),
      location: `${this.#parts.apiUrl()}/compute/ops/download/?token=${token}`,
      name: `${id}/${path}`,
    }
  }
}

function clipAreaOf(tools: unknown): AreaGeometry | null {
  const list = (Array.isArray(tools) ? tools : []) as Record<string, { aoi?: AreaGeometry; format?: string }>[]
  const unknown = list.flatMap((tool) => Object.keys(tool)).find((name) => !TOOLS.includes(name))
  if (unknown !== undefined) throw unacceptable('Tools', `Unknown tool '${unknown}'`)
  const format = list.find((tool) => tool['file_format'])?.['file_format']?.format
  if (format !== undefined && format !== 'COG') throw unacceptable('Tools', `The format '${format}' is not simulated`)
  const clip = list.find((tool) => tool['clip'])?.['clip']
  if (!clip) return null
  if (!clip.aoi || !['Polygon', 'MultiPolygon'].includes(clip.aoi.type)) throw unacceptable('Tools', 'AOI is invalid')
  return clip.aoi
}
