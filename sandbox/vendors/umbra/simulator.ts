/** The state of the simulated Umbra: scenes, studies, tasks, what they deliver, and what goes wrong. */
import { createHash, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Clock } from '#core/clock.ts'
import type { AreaGeometry, Position } from '#core/geometry.ts'
import { DAY_MS } from '#core/time.ts'
import { coarseCopy, describeScene, type SceneDescription } from '../../scenes/index.ts'
import { HOSTS } from '../hosts.ts'
import { Library } from '../library.ts'
import { openSceneRenderer, type SceneRenderer } from '../scene-renderer.ts'
import { invalid, Refused } from '../refused.ts'

export interface UmbraOptions {
  readonly clock: Clock
  /** Folder for rendered files. */
  readonly workDir: string
  /** Duration of each state of a task. */
  readonly stepSeconds?: number
  readonly clientId?: string
  readonly clientSecret?: string
}

/** What goes wrong next. Counters count down. */
export interface UmbraFaults {
  /** Tasks that are created, and answered with 502. */
  lostPlacements: number
  /** Token requests that are answered with 401. */
  refusedSignIns: number
  /** Token requests that are answered as if there had been too many. */
  limitedSignIns: number
  /** Orders that the contract does not allow. */
  overQuota: number
  /** Orders of scenes that are answered with a failure. */
  refusedCollects: number
  /** Signed links that have expired when they are opened. */
  expiredLinks: number
  /** Transfers that end halfway. */
  brokenTransfers: number
  /** Requests that are answered with 429. */
  limited: number
  /** Requests to cancel that are carried out, and answered with 502. */
  lostCancellations: number
  /** Instead of the state of tasks. */
  status: string | null
  /** Instead of the state of collects. */
  collectStatus: string | null
  /** Instead of the state of studies. */
  studyStatus: string | null
  /** No satellite passes. */
  hasNoPasses: boolean
  /** Added to the stated size of images. */
  extraBytes: number
  /** Instead of the stated checksum of images. */
  checksum: string | null
  /** Images show another place. */
  isElsewhere: boolean
  /** Items do not name their task, only their collect. */
  hasNoTaskIds: boolean
  /** Searches of tasks return all of them. */
  ignoresFilters: boolean
}

type Counter = { [Name in keyof UmbraFaults]: UmbraFaults[Name] extends number ? Name : never }[keyof UmbraFaults]

export interface PlacedTask {
  readonly id: string
  readonly createdAt: Date
  readonly taskType: 'STANDARD' | 'ARCHIVE'
  readonly taskName: string
  readonly userOrderId: string
  readonly productTypes: readonly string[]
  /** Of an order from the archive. */
  readonly scene: SceneDescription | null
  readonly constraints: Readonly<Record<string, unknown>>
  readonly windowStartAt: string
  readonly windowEndAt: string
  readonly satelliteIds: readonly string[]
  readonly collectId: string
  readonly itemId: string
  cancelRequestedAt: Date | null
}

export interface Study {
  readonly id: string
  readonly createdAt: Date
  readonly request: Readonly<Record<string, unknown>>
}

const SENSOR = 'sandbox-hr'
/** Radar has one band. */
const BAND = 'nir'
const TOKEN_SECONDS = 86_400
const LINK_SECONDS = 3_600
/** Longer side of images: whole scenes are delivered, and coarser than real ones. */
const VIEW_PX = 512
const MAX_PASSES = 40
const TASK_STATES = [
  'ACTIVE',
  'SUBMITTED',
  'SCHEDULED',
  'TASKED',
  'TRANSMITTED',
  'PROCESSING',
  'PROCESSED',
  'DELIVERING',
  'DELIVERED',
  'COMPLETED',
] as const
const ARCHIVE_STATES = ['ACTIVE', 'SUBMITTED', 'ACCEPTED', 'PROCESSING', 'PROCESSED', 'DELIVERING', 'DELIVERED', 'COMPLETED'] as const
const CANCELLABLE: readonly string[] = ['ACTIVE', 'SUBMITTED', 'ACCEPTED', 'SCHEDULED']

export const PASS_LENGTH_MS = 15_000

/** Where this account must not task: a square in the Gulf of Guinea. */
export const RESTRICTED: AreaGeometry = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 1],
      [0, 0],
    ],
  ],
}

export class UmbraSimulator {
  readonly clock: Clock
  readonly clientId: string
  readonly clientSecret: string
  readonly renderer: SceneRenderer
  readonly library: Library
  readonly faults: UmbraFaults = {
    lostPlacements: 0,
    refusedSignIns: 0,
    limitedSignIns: 0,
    overQuota: 0,
    refusedCollects: 0,
    expiredLinks: 0,
    brokenTransfers: 0,
    limited: 0,
    lostCancellations: 0,
    status: null,
    collectStatus: null,
    studyStatus: null,
    hasNoPasses: false,
    extraBytes: 0,
    checksum: null,
    isElsewhere: false,
    hasNoTaskIds: false,
    ignoresFilters: false,
  }
  readonly tasks: PlacedTask[] = []
  readonly studies = new Map<string, Study>()
  readonly tokens = new Map<string, number>()
  readonly fileHeaders: Record<string, unknown>[] = []
  readonly contractId = randomUUID()
  signIns = 0
  base = ''
  filesHost = ''
  readonly #stepMs: number
  /** Scenes by the IDs of their items and of their collects. */
  readonly #scenes = new Map<string, SceneDescription>()
  readonly #images = new Map<string, Buffer>()
  readonly #links = new Map<string, { taskId: string; kind: FileKind; expiresAt: number }>()

  constructor(options: UmbraOptions) {
    const { clock, workDir, stepSeconds = 120, clientId = 'umbra-client-of-a-test', clientSecret = 'umbra-secret-of-a-test' } = options
    this.clock = clock
    this.clientId = clientId
    this.clientSecret = clientSecret
    this.#stepMs = stepSeconds * 1000
    this.renderer = openSceneRenderer(workDir)
    this.library = new Library({ ...HOSTS.find(({ name }) => name === SENSOR)!, name: 'umbra', sensor: SENSOR }, () => clock.now())
  }

  /** Whether this fault is due; each is counted down. */
  take(name: Counter): boolean {
    if (this.faults[name] <= 0) return false
    this.faults[name]--
    return true
  }

  signIn(body: Readonly<Record<string, unknown>>): { access_token: string; expires_in: number; token_type: string } {
    if (this.take('limitedSignIns')) throw new Refused(400, { code: 429, message: 'Exceeded token exchange limit' })
    const isKnown = body['client_id'] === this.clientId && body['client_secret'] === this.clientSecret
    if (this.take('refusedSignIns') || !isKnown || body['grant_type'] !== 'client_credentials' || body['audience'] !== AUDIENCE)
      throw new Refused(401, 'Unauthorized')
    this.signIns++
    const token = randomUUID()
    this.tokens.set(token, this.clock.now().getTime() + TOKEN_SECONDS * 1000)
    return { access_token: token, expires_in: TOKEN_SECONDS, token_type: 'Bearer' }
  }

  isSignedIn(authorization: string | undefined): boolean {
    const expiresAt = this.tokens.get(authorization?.replace(/^Bearer /, '') ?? '')
    return expiresAt !== undefined && expiresAt > this.clock.now().getTime()
  }

  /** The IDs of a scene are UUIDs, as Umbra's are. */
  idsOf(scene: SceneDescription): { itemId: string; collectId: string } {
    const ids = { itemId: uuidOf(`item ${scene.id}`), collectId: uuidOf(`collect ${scene.id}`) }
    for (const id of Object.values(ids)) this.#scenes.set(id, scene)
    return ids
  }

  sceneOf(id: string): SceneDescription | null {
    return this.#scenes.get(id) ?? null
  }

  task(id: string): PlacedTask {
    const task = this.tasks.find((each) => each.id === id)
    if (!task) throw new Refused(404, 'Task not found')
    return task
  }

  place(fields: Omit<PlacedTask, 'id' | 'createdAt' | 'collectId' | 'itemId' | 'cancelRequestedAt'>): PlacedTask {
    if (this.take('overQuota')) throw new Refused(403, 'The contract of this organization has no tasks left')
    const task = {
      ...fields,
      id: randomUUID(),
      createdAt: this.clock.now(),
      collectId: randomUUID(),
      itemId: randomUUID(),
      cancelRequestedAt: null,
    }
    this.tasks.push(task)
    return task
  }

  #steps(since: Date): number {
    return Math.floor((this.clock.now().getTime() - since.getTime()) / this.#stepMs)
  }

  /** The state follows from the time since the task was created; deliveries need the image. */
  async status(task: PlacedTask): Promise<string> {
    if (this.faults.status !== null) return this.faults.status
    if (task.cancelRequestedAt) return this.#steps(task.cancelRequestedAt) < 1 ? 'CANCEL_REQUESTED' : 'CANCELED'
    const states = task.taskType === 'ARCHIVE' ? ARCHIVE_STATES : TASK_STATES
    const announced = states.length - 2
    const steps = Math.min(this.#steps(task.createdAt), states.length - 1)
    const isReady = steps < announced || (await this.renderer.fileSoon(this.shownIn(task))) !== null
    return states[isReady ? steps : announced - 1]!
  }

  async cancel(task: PlacedTask): Promise<void> {
    const status = await this.status(task)
    if (!CANCELLABLE.includes(status)) throw invalid('status', `A task in status ${status} cannot be canceled`)
    task.cancelRequestedAt = this.clock.now()
  }

  /** Whether the items of a task are in the catalogue. */
  async isDelivered(task: PlacedTask): Promise<boolean> {
    return ['DELIVERED', 'COMPLETED'].includes(await this.status(task))
  }

  /** The whole scene of the archive, or a square around the place; one band. */
  shownIn({ id, scene, constraints, windowStartAt }: PlacedTask): SceneDescription {
    const [longitude, latitude] = (constraints['geometry'] as { coordinates: Position }).coordinates
    const place = { sensor: SENSOR, longitude: longitude + (this.faults.isElsewhere ? 1 : 0), latitude } as const
    const isWhole = scene !== null && !this.faults.isElsewhere
    const view = isWhole
      ? coarseCopy(scene, VIEW_PX)
      : describeScene({ ...place, datetime: windowStartAt, sizePx: VIEW_PX, id: `tasked_${id}` })
    return { ...view, bands: view.bands.filter(({ name }) => name === BAND) }
  }

  passes({ request }: Study): Date[] {
    const [from, to] = [request['windowStartAt'], request['windowEndAt']].map((time) => Date.parse(String(time))) as [number, number]
    const days = this.faults.hasNoPasses ? 0 : Math.min(MAX_PASSES, Math.floor((to - from) / DAY_MS))
    return Array.from({ length: days }, (_, day) => new Date(from + day * DAY_MS + DAY_MS / 4))
  }

  studyStatus({ createdAt }: Study): string {
    return this.faults.studyStatus ?? (this.#steps(createdAt) < 1 ? 'RECEIVED' : 'COMPLETED')
  }

  /** The files of a task, as they are delivered. */
  async files(task: PlacedTask): Promise<Record<FileKind, { name: string; type: string; bytes: Buffer }>> {
    const shown = this.shownIn(task)
    const { path } = await this.renderer.file(shown)
    const stem = `${shown.datetime.slice(0, 19).replaceAll(/[T:]/g, '-')}_UMBRA-05`
    const metadata = { version: '2.0.0', umbraSatelliteName: 'UMBRA_05', collects: [{ id: task.collectId }], productSku: 'UMB-SPOTLIGHT' }
    return {
      image: { name: `${stem}_GEC.tif`, type: 'image/tiff; application=geotiff; profile=cloud-optimized', bytes: await this.#read(path) },
      metadata: { name: `${stem}_METADATA.json`, type: 'application/json', bytes: Buffer.from(JSON.stringify(metadata)) },
    }
  }

  async #read(path: string): Promise<Buffer> {
    const known = this.#images.get(path)
    if (known) return known
    const bytes = await readFile(path)
    this.#images.set(path, bytes)
    return bytes
  }

  signedLink(taskId: string, kind: FileKind): string {
    const signature = randomUUID()
    this.#links.set(signature, { taskId, kind, expiresAt: this.clock.now().getTime() + LINK_SECONDS * 1000 })
    return `http://${this.filesHost}/prod-collects/${taskId}/${kind}?X-Amz-Signature=${signature}`
  }

  /** Null for a link that was never signed, or has expired. */
  fileBehind(signature: string): { task: PlacedTask; kind: FileKind } | null {
    const link = this.#links.get(signature)
    if (!link || link.expiresAt < this.clock.now().getTime() || this.take('expiredLinks')) return null
    return { task: this.task(link.taskId), kind: link.kind }
  }
}

const AUDIENCE = 'https://api.canopy.umbra.space'
export type FileKind = 'image' | 'metadata'

export const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
