/** Planet's Orders API: orders by our name, their manifests and their files. Planet does not recognize a repeated order. */
import { LRUCache } from 'lru-cache'
import { ask } from '#adapters/vendors/ask.ts'
import type { Host } from '#adapters/vendors/host.ts'
import { VendorError, type CallOptions, type VendorErrorCode } from '#ports/vendors/call.ts'
import { schemas, type Manifest, type Order } from './wire.ts'

const ORDERS = '/compute/ops/orders/v2'
const MAX_MANIFEST_BYTES = 16 * 1024 * 1024
/** Manifests never change once an order has ended, and are read with every poll and file. */
const MAX_MANIFESTS = 50

interface DownloadOptions {
  readonly offset?: number
  readonly signal?: AbortSignal
}

export interface Orders {
  /** The order with this name; null if there is none. */
  find(name: string, options: CallOptions): Promise<Order | null>
  get(id: string, options: CallOptions): Promise<Order>
  create(body: object, options: CallOptions): Promise<Order>
  /** `refused` once it runs. */
  cancel(id: string, options: CallOptions): Promise<Order>
  /** Null until the order has been delivered. */
  manifest(order: Order, options: CallOptions): Promise<Manifest | null>
  /** A file by its order and its path in the manifest. Links expire, so that each call asks for a new one. */
  download(fileId: string, options: DownloadOptions): AsyncGenerator<Uint8Array>
}

export const createOrders = (host: Host): Orders => new OrdersApi(host)

class OrdersApi implements Orders {
  readonly #host: Host
  readonly #manifests = new LRUCache<string, Manifest>({ max: MAX_MANIFESTS })

  constructor(host: Host) {
    this.#host = host
  }

  async find(name: string, options: CallOptions): Promise<Order | null> {
    const path = `${ORDERS}?source_type=all&name=${encodeURIComponent(name)}`
    const list = await ask(this.#host, schemas.orders, { path, ...options }, 'list of orders')
    if (!list) throw this.#error('invalid-response', 'has no list of orders')
    const ours = list.orders.find((order) => order.name === name)
    if (ours) return await this.get(ours.id, options)
    // Ours could be on any page of a list that is not filtered.
    if (list.orders.length > 0) throw this.#error('unavailable', 'does not filter its orders by name, so ours cannot be looked for')
    return null
  }

  async get(id: string, options: CallOptions): Promise<Order> {
    const order = await ask(this.#host, schemas.order, { path: pathOf(id), ...options }, 'order')
    if (!order) throw this.#error('not-found', 'has no such order')
    if (order.id !== id) throw this.#error('invalid-response', 'returned another object than requested')
    return order
  }

  async create(body: object, options: CallOptions): Promise<Order> {
    const order = await ask(this.#host, schemas.order, { method: 'POST', path: ORDERS, body, ...options }, 'order')
    if (!order) throw this.#error('invalid-response', 'takes no orders')
    return order
  }

  async cancel(id: string, options: CallOptions): Promise<Order> {
    try {
      await this.#host.json({ method: 'PUT', path: pathOf(id), isRepeatable: true, ...options })
    } catch (error) {
      const order = error instanceof VendorError && error.code === 'refused' ? await this.get(id, options) : null
      if (order?.state !== 'cancelled') throw error
      return order
    }
    const order = await this.get(id, options)
    if (order.state !== 'cancelled') throw this.#error('refused', `keeps the order, which is '${order.state}'`)
    return order
  }

  async manifest(order: Order, { signal }: CallOptions): Promise<Manifest | null> {
    const known = this.#manifests.get(order.id)
    if (known) return known
    const location = linkTo(order, 'manifest.json')
    if (location === null) return null
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of this.#host.stream({ path: location, ...(signal ? { signal } : {}) })) {
      size += chunk.byteLength
      if (size > MAX_MANIFEST_BYTES) throw this.#error('invalid-response', 'returned a manifest that is too large')
      chunks.push(chunk)
    }
    const manifest = parsed(Buffer.concat(chunks))
    if (!schemas.manifest.Check(manifest)) throw this.#error('invalid-response', 'returned an invalid manifest')
    this.#manifests.set(order.id, manifest as Manifest)
    return manifest as Manifest
  }

  async *download(fileId: string, options: DownloadOptions): AsyncGenerator<Uint8Array> {
    const [id, path] = [fileId.slice(0, fileId.indexOf('/')), fileId.slice(fileId.indexOf('/') + 1)]
    const order = await this.get(id, options.signal ? { signal: options.signal } : {})
    const location = linkTo(order, path)
    if (location === null) throw this.#error('not-found', `does not have the file '${path}' any more`)
    yield* this.#host.stream({ path: location, ...options })
  }

  #error(code: VendorErrorCode, what: string): VendorError {
    return new VendorError(code, this.#host.name, `${this.#host.name} ${what}`)
  }
}

const pathOf = (id: string): string => `${ORDERS}/${encodeURIComponent(id)}`

/** Files are named after their order, and then as in the manifest. */
const linkTo = ({ id, _links: { results } }: Order, path: string): string | null =>
  results?.find(({ name }) => name === `${id}/${path}` || name === path)?.location ?? null

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}
