/** The state of the simulated UP42: scenes, orders, what they deliver, and what goes wrong. */
import { createHash, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { areaBounds, sqKmOf } from '#core/area.ts'
import type { Clock } from '#core/clock.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import { cropOf, describeScene, type SceneDescription } from '../../scenes/index.ts'
import { Library, sharedArea } from '../library.ts'
import { openSceneRenderer, type SceneRenderer } from '../scene-renderer.ts'
import {
  collectionOf,
  COLLECTIONS,
  CREDITS_PER_SQ_KM,
  FORM_DEFAULT,
  libraryHost,
  MAX_SQ_KM,
  MIN_SQ_KM,
  TASKED_SENSOR,
  type SimulatedCollection,
} from './glossary.ts'

export interface Up42Options {
  readonly clock: Clock
  /** Folder for rendered files. */
  readonly workDir: string
  /** Duration of each state of an order. */
  readonly stepSeconds?: number
  readonly user?: string
  readonly password?: string
}

/** What goes wrong next. Counters count down. */
export interface Up42Faults {
  /** Orders that are placed, and answered with 502. */
  lostPlacements: number
  /** Attempts to sign in that are answered with 401. */
  refusedSignIns: number
  /** Orders that are refused because the account has too few credits. */
  overBudget: number
  /** Signed links that have expired when they are opened. */
  expiredLinks: number
  /** Transfers that end halfway. */
  brokenTransfers: number
  /** Requests that are answered with 429. */
  limited: number
  /** Instead of the state of orders. */
  status: string | null
  /** Instead of the state of the archive in the storage. */
  extraction: string | null
  /** Added to the price of a square kilometre. */
  extraCredits: number
  /** Added to the stated size of images. */
  extraBytes: number
  /** Instead of the stated checksum of images. */
  checksum: string | null
  /** Nobody has accepted the licences. */
  isUnlicensed: boolean
  /** The property by which the storage finds the items of an order. */
  orderProperty: string
}

type Counter = 'lostPlacements' | 'refusedSignIns' | 'overBudget' | 'expiredLinks' | 'brokenTransfers' | 'limited'

export interface PlacedOrder {
  readonly id: string
  readonly createdAt: Date
  readonly productId: string
  readonly displayName: string
  readonly type: 'ARCHIVE' | 'TASKING'
  readonly area: AreaGeometry
  readonly params: Readonly<Record<string, unknown>>
  tags: readonly string[]
  isCancelled: boolean
  /** Tasking: what was decided, and when. */
  option: { readonly id: string; readonly at: Date } | null
  quotation: { readonly decision: 'ACCEPTED' | 'REJECTED'; readonly at: Date } | null
  readonly ids: Readonly<Record<'archive' | 'image' | 'mask' | 'collection' | 'item' | 'study' | 'quotation', string>>
}

/** As the API reports errors; searches have a form of their own. */
export class Refused extends Error {
  readonly status: number
  readonly isSearch: boolean
  constructor(status: number, message: string, isSearch = false) {
    super(message)
    this.status = status
    this.isSearch = isSearch
  }
}

const TOKEN_SECONDS = 300
const LINK_SECONDS = 300
const MAX_FILE_PX = 16_000_000
const VIEW_PX = 512
const ARCHIVE_STATES = ['CREATED', 'BEING_PLACED', 'PLACED', 'BEING_FULFILLED', 'FULFILLED'] as const
const TASKED_STATES = ['PLACED', 'BEING_FULFILLED', 'FULFILLED'] as const

interface Standing {
  readonly status: string
  readonly subStatus: string | null
  /** Steps since the order was fulfilled; null before. */
  readonly since: number | null
}

export class Up42Simulator {
  readonly clock: Clock
  readonly user: string
  readonly password: string
  readonly renderer: SceneRenderer
  readonly faults: Up42Faults = {
    lostPlacements: 0,
    refusedSignIns: 0,
    overBudget: 0,
    expiredLinks: 0,
    brokenTransfers: 0,
    limited: 0,
    status: null,
    extraction: null,
    extraCredits: 0,
    extraBytes: 0,
    checksum: null,
    isUnlicensed: false,
    orderProperty: 'order_id',
  }
  readonly orders: PlacedOrder[] = []
  readonly fileHeaders: Record<string, unknown>[] = []
  readonly tokens = new Map<string, number>()
  readonly workspaceId = randomUUID()
  readonly accountId = randomUUID()
  signIns = 0
  readonly #links = new Map<string, { assetId: string; expiresAt: number }>()
  readonly #libraries: ReadonlyMap<string, Library>
  readonly #stepMs: number
  filesHost = ''
  base = ''

  constructor({ clock, workDir, stepSeconds = 120, user = 'imagery@example.com', password = 'up42-password-of-a-test' }: Up42Options) {
    this.clock = clock
    this.user = user
    this.password = password
    this.#stepMs = stepSeconds * 1000
    this.renderer = openSceneRenderer(workDir)
    this.#libraries = new Map(COLLECTIONS.map(({ name }) => [name, new Library(libraryHost(name), () => clock.now())]))
  }

  /** Whether this fault is due; each is counted down. */
  take(name: Counter): boolean {
    if (this.faults[name] <= 0) return false
    this.faults[name]--
    return true
  }

  signIn(fields: URLSearchParams): { access_token: string; expires_in: number; token_type: string } {
    const [grant, client] = [fields.get('grant_type'), fields.get('client_id')]
    if (grant !== 'password' || client !== 'up42-sdk') throw new Refused(400, 'unauthorized_client')
    if (this.take('refusedSignIns') || fields.get('username') !== this.user || fields.get('password') !== this.password)
      throw new Refused(401, 'Invalid user credentials')
    this.signIns++
    const token = randomUUID()
    this.tokens.set(token, this.clock.now().getTime() + TOKEN_SECONDS * 1000)
    return { access_token: token, expires_in: TOKEN_SECONDS, token_type: 'Bearer' }
  }

  isSignedIn(authorization: string | undefined): boolean {
    const expiresAt = this.tokens.get(authorization?.replace(/^Bearer /, '') ?? '')
    return expiresAt !== undefined && expiresAt > this.clock.now().getTime()
  }

  library(collection: string): Library {
    return this.#libraries.get(collection)!
  }

  scene(id: string): { scene: SceneDescription; collection: SimulatedCollection } | null {
    for (const collection of COLLECTIONS) {
      const scene = this.library(collection.name).scene(id)
      if (scene) return { scene, collection }
    }
    return null
  }

  order(id: string): PlacedOrder {
    const order = this.orders.find((each) => each.id === id)
    if (!order) throw new Refused(404, `Order with id ${id} not found`)
    return order
  }

  /** What one feature of an order costs, or why it cannot be ordered. */
  price(productId: string, params: Record<string, unknown>, area: AreaGeometry): { credits: number; size: number } | string {
    const collection = collectionOf(productId)
    if (!collection) throw new Refused(404, `Data product ${productId} not found`)
    if (params[FORM_DEFAULT.name] === undefined) return `'${FORM_DEFAULT.name}' is a required property`
    if (collection.type === 'TASKING' && !(params['acquisitionStart'] && params['acquisitionEnd']))
      return "'acquisitionStart' is a required property"
    if (collection.type === 'ARCHIVE') {
      const found = this.scene(String(params['id']))
      if (found?.collection !== collection) return `Scene ${String(params['id'])} not found`
      if (!sharedArea(found.scene, area)) return 'The AOI does not intersect the scene'
    }
    const size = sqKmOf(area)
    if (size > MAX_SQ_KM) return `The AOI exceeds ${MAX_SQ_KM} sqkm`
    const rate = CREDITS_PER_SQ_KM + this.faults.extraCredits
    return { credits: Math.ceil(Math.max(size, MIN_SQ_KM) * rate), size }
  }

  place(form: Pick<PlacedOrder, 'productId' | 'displayName' | 'params' | 'area' | 'tags'>): PlacedOrder {
    const { type } = collectionOf(form.productId)!
    const names = ['archive', 'image', 'mask', 'collection', 'item', 'study', 'quotation'] as const
    const ids = Object.fromEntries(names.map((name) => [name, randomUUID()])) as PlacedOrder['ids']
    const base = { id: randomUUID(), createdAt: this.clock.now(), type, isCancelled: false, option: null, quotation: null, ids }
    const order: PlacedOrder = { ...form, ...base }
    this.orders.push(order)
    return order
  }

  #steps(since: Date): number {
    return Math.floor((this.clock.now().getTime() - since.getTime()) / this.#stepMs)
  }

  /** The state follows from the time since the last decision; the last one needs the image. */
  async standing(order: PlacedOrder): Promise<Standing> {
    if (order.isCancelled) return { status: 'CANCELED', subStatus: null, since: null }
    const { option, quotation } = order
    const waiting = (subStatus: string): Standing => ({ status: 'CREATED', subStatus, since: null })
    if (order.type === 'TASKING' && !option) {
      const isThere = this.#steps(order.createdAt) >= 1
      return waiting(isThere ? 'FEASIBILITY_WAITING_RESPONSE' : 'FEASIBILITY_WAITING_UPLOAD')
    }
    if (option && !quotation) return waiting(this.#steps(option.at) >= 1 ? 'QUOTATION_WAITING_RESPONSE' : 'QUOTATION_WAITING_UPLOAD')
    if (quotation?.decision === 'REJECTED') return { status: 'CANCELED', subStatus: 'QUOTATION_REJECTED', since: null }
    const states = quotation ? TASKED_STATES : ARCHIVE_STATES
    const last = states.length - 1
    const steps = this.#steps(quotation?.at ?? order.createdAt)
    const isReady = steps >= last && (await this.renderer.fileSoon(this.shownIn(order))) !== null
    const status = states[isReady ? last : Math.min(steps, last - 1)]!
    return { status, subStatus: quotation ? 'QUOTATION_ACCEPTED' : null, since: isReady ? steps - last : null }
  }

  async view(order: PlacedOrder) {
    const { status, subStatus } = await this.standing(order)
    const { acquisitionStart, acquisitionEnd } = order.params
    const at = order.createdAt.toISOString()
    const by = { id: this.accountId, type: 'USER' }
    return {
      id: order.id,
      displayName: order.displayName,
      status: this.faults.status ?? status,
      workspaceId: this.workspaceId,
      accountId: this.accountId,
      type: order.type,
      dataProductId: order.productId,
      createdAt: at,
      updatedAt: at,
      createdBy: by,
      updatedBy: by,
      tags: order.tags,
      orderDetails:
        order.type === 'ARCHIVE'
          ? { aoi: order.area, imageId: String(order.params['id']) }
          : { acquisitionStart, acquisitionEnd, geometry: order.area, extraDescription: null, subStatus },
    }
  }

  /** The scene that an order shows. */
  shownIn(order: PlacedOrder): SceneDescription {
    const { area, params } = order
    if (order.type === 'ARCHIVE') {
      const { scene } = this.scene(String(params['id']))!
      return cropOf(scene, sharedArea(scene, area) ?? area, { maxPx: MAX_FILE_PX })
    }
    const [west, south, east, north] = areaBounds(area)
    const [longitude, latitude] = [(west + east) / 2, (south + north) / 2]
    const datetime = `${String(params['acquisitionStart']).slice(0, 10)}T10:30:00Z`
    const view = describeScene({ sensor: TASKED_SENSOR, longitude, latitude, datetime, sizePx: VIEW_PX, id: `tasked_${order.id}` })
    return cropOf(view, area, { maxPx: MAX_FILE_PX, isBounded: false })
  }

  /** How far the storage is with the archive; null before there is one. */
  async extraction(order: PlacedOrder): Promise<string | null> {
    const { since } = await this.standing(order)
    if (since === null) return null
    return this.faults.extraction ?? (since >= 1 ? 'SUCCESSFUL' : 'IN_PROGRESS')
  }

  /** The files of an order, as they are delivered. */
  async files(order: PlacedOrder): Promise<Record<'image' | 'mask', { bytes: Buffer; type: string }>> {
    const { path } = await this.renderer.file(this.shownIn(order))
    const cloud = { type: 'FeatureCollection', features: [{ type: 'Feature', properties: { class: 'cloud' }, geometry: order.area }] }
    return {
      image: { bytes: await readFile(path), type: 'image/tiff; application=geotiff; profile=cloud-optimized' },
      mask: { bytes: Buffer.from(JSON.stringify(cloud)), type: 'application/geo+json' },
    }
  }

  async checksums(order: PlacedOrder): Promise<Record<'image' | 'mask', { size: number; checksum: string }>> {
    const { image, mask } = await this.files(order)
    const digest = (bytes: Buffer) => `1220${createHash('sha256').update(bytes).digest('hex')}`
    return {
      image: { size: image.bytes.length + this.faults.extraBytes, checksum: this.faults.checksum ?? digest(image.bytes) },
      mask: { size: mask.bytes.length, checksum: digest(mask.bytes) },
    }
  }

  signedLink(assetId: string): string {
    const signature = randomUUID()
    this.#links.set(signature, { assetId, expiresAt: this.clock.now().getTime() + LINK_SECONDS * 1000 })
    const disposition = encodeURIComponent(`attachment; filename=${assetId}`)
    return `http://${this.filesHost}/user-storage/assets/${assetId}?signature=${signature}&response-content-disposition=${disposition}`
  }

  /** Null for a link that was never signed, or has expired. */
  assetBehind(signature: string): { order: PlacedOrder; kind: 'image' | 'mask' } | null {
    const link = this.#links.get(signature)
    if (!link || link.expiresAt < this.clock.now().getTime() || this.take('expiredLinks')) return null
    for (const order of this.orders)
      for (const kind of ['image', 'mask'] as const) if (order.ids[kind] === link.assetId) return { order, kind }
    return null
  }
}
