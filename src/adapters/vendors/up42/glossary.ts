/**
 * What UP42 offers to an account: its collections, the hosts that search them, the licences of its products, and the order forms.
 * All of it changes seldom.
 */
import { LRUCache } from 'lru-cache'
import { VendorError, type CallOptions } from '#ports/vendors/call.ts'
import type { Host } from '#adapters/vendors/host.ts'
import { requireAnswer } from '#adapters/vendors/require-answer.ts'
import { schemas, type Collection } from './wire.ts'

const FRESH_MS = 60 * 60_000
/** A licence can be replaced, and must then be accepted again. */
const ACCEPTED_MS = 10 * 60_000
const MAX_PRODUCTS = 500
const MAX_PAGES = 50

/** A host of UP42, which searches its collections with one request. */
export interface SearchHost {
  readonly name: string
  readonly collections: readonly string[]
}

export interface Glossary {
  /** Hosts of archive collections, with those of the given ones that they have. */
  searchHosts(wanted: readonly string[], options: CallOptions): Promise<readonly SearchHost[]>
  /** UP42's class of the collection that a product belongs to; null if it states none. */
  resolutionClass(productId: string, options: CallOptions): Promise<string | null>
  /** Why a product cannot be ordered before somebody accepts its licence; null if it can. */
  missingLicence(productId: string, options: CallOptions): Promise<string | null>
  /** Values of the order form that are required and have a default. */
  defaults(productId: string, options: CallOptions): Promise<Record<string, unknown>>
}

/** Parameters that are not in the form's defaults: the scene, and the area in its two names. */
const OWN_PARAMETERS = ['id', 'aoi', 'geometry', 'displayName']

export const createGlossary = (host: Host): Glossary => new Up42Glossary(host)

class Up42Glossary implements Glossary {
  readonly #host: Host
  readonly #known = new LRUCache<'collections', readonly Collection[]>({ max: 1, ttl: FRESH_MS })
  readonly #accepted = new LRUCache<string, true>({ max: MAX_PRODUCTS, ttl: ACCEPTED_MS })
  readonly #forms = new LRUCache<string, Record<string, unknown>>({ max: MAX_PRODUCTS, ttl: FRESH_MS })
  #pending: Promise<readonly Collection[]> | null = null

  constructor(host: Host) {
    this.#host = host
  }

  async searchHosts(wanted: readonly string[], options: CallOptions): Promise<readonly SearchHost[]> {
    const found = (await this.#collections(options)).filter(({ type, name }) => type === 'ARCHIVE' && wanted.includes(name))
    const pairs = found.flatMap(({ name, providers }) => {
      const provider = providers.find(({ roles }) => roles?.includes('HOST'))
      return provider ? [{ host: provider.name, collection: name }] : []
    })
    const byHost = Map.groupBy(pairs, ({ host }) => host)
    return [...byHost].map(([name, members]) => ({ name, collections: members.map(({ collection }) => collection) }))
  }

  async resolutionClass(productId: string, options: CallOptions): Promise<string | null> {
    return (await this.#product(productId, options)).metadata?.resolutionClass ?? null
  }

  async missingLicence(productId: string, options: CallOptions): Promise<string | null> {
    if (this.#accepted.has(productId)) return null
    const { dataProducts } = await this.#product(productId, options)
    const eulaId = dataProducts.find(({ id }) => id === productId)?.eulaId
    if (eulaId) {
      const request = { path: `/v2/eulas/${encodeURIComponent(eulaId)}`, ...options }
      const { title, isAccepted, currentDocumentUrl } = await requireAnswer(this.#host, schemas.eula, request, 'licence')
      if (!isAccepted) {
        const where = currentDocumentUrl ? ` (${currentDocumentUrl})` : ''
        return (
          `${this.#host.name} requires the owner of the account to accept the licence '${title ?? eulaId}'${where} ` +
          `in UP42's console first`
        )
      }
    }
    this.#accepted.set(productId, true)
    return null
  }

  async defaults(productId: string, options: CallOptions): Promise<Record<string, unknown>> {
    const known = this.#forms.get(productId)
    if (known) return known
    const request = { path: `/orders/schema/${encodeURIComponent(productId)}`, ...options }
    const { properties = {}, required = [] } = await requireAnswer(this.#host, schemas.orderForm, request, 'order form')
    const values = required.flatMap((name) => {
      const field = Object.hasOwn(properties, name) ? (properties[name] as { default?: unknown } | null) : null
      return OWN_PARAMETERS.includes(name) || field?.default === undefined ? [] : [[name, field.default] as const]
    })
    const defaults = Object.fromEntries(values)
    this.#forms.set(productId, defaults)
    return defaults
  }

  async #product(productId: string, options: CallOptions): Promise<Collection> {
    const collection = (await this.#collections(options)).find(({ dataProducts }) => dataProducts.some(({ id }) => id === productId))
    if (collection) return collection
    throw new VendorError('refused', this.#host.name, `${this.#host.name} does not offer this product to the account`)
  }

  /** Several callers wait for one request, so that no single one of them can abort it. */
  async #collections({ failFast = false }: CallOptions): Promise<readonly Collection[]> {
    const known = this.#known.get('collections')
    if (known) return known
    this.#pending ??= this.#load(failFast).finally(() => {
      this.#pending = null
    })
    return await this.#pending
  }

  async #load(failFast: boolean): Promise<readonly Collection[]> {
    const all: Collection[] = []
    for (let page = 0, pages = 1; page < Math.min(pages, MAX_PAGES); page++) {
      const request = { path: `/v2/collections?page=${page}`, failFast }
      const { content, totalPages } = await requireAnswer(this.#host, schemas.collections, request, 'list of collections')
      all.push(...content)
      pages = totalPages
    }
    this.#known.set('collections', all)
    return all
  }
}
