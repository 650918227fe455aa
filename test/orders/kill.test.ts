// Goal: kill -9 at any named point of an order's way leaves one order that ends, with money, items and lineage that agree.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '#core/clock.ts'
import { newId } from '#core/ids.ts'
import { openDatabase } from '#db/open.ts'
import { DAY_MS } from '#core/time.ts'
import { startPlanet } from '../../sandbox/vendors/planet/server.ts'
import { startSkyfi } from '../../sandbox/vendors/skyfi/server.ts'
import { startStapi } from '../../sandbox/vendors/stapi/server.ts'
import { startUmbra } from '../../sandbox/vendors/umbra/server.ts'
import { startUp42 } from '../../sandbox/vendors/up42/server.ts'
import { campaign, someOf } from '../support/campaign.ts'
import { call, createOwner, ok, PASSWORD, post, type Owner, type Reply } from '../support/client.ts'
import { createEmptyDatabase } from '../support/database.ts'
import { openLab, type Lab, type Service } from '../support/service.ts'
import { planetRegistry } from '../vendors/planet.ts'
import { skyfiRegistry } from '../vendors/skyfi.ts'
import { stapiRegistry } from '../vendors/stapi.ts'
import { umbraRegistry } from '../vendors/umbra.ts'
import { up42Registry } from '../vendors/up42.ts'
import { orderViolations } from './invariants.ts'
import { POINTS, type Way } from './service.ts'
import { features, square } from './support.ts'

/** Where most can go wrong; the long campaign does all of them, CI an eighth, others each time. */
const SHORT: readonly [Way, string][] = [
  ['archive', 'orders.place after-vendor'],
  ['skyfi', 'orders.place after-vendor'],
  ['planet', 'orders.place after-vendor'],
  ['up42', 'orders.place after-vendor'],
  ['umbra', 'response to POST /tasking/tasks/archive-tasks'],
  ['stapi tasking', 'response to POST /stapi/products/Area:Standard/orders'],
  ['archive', 'orders.deliver before-commit fulfilled'],
  ['cancelled', 'orders.cancel after-vendor'],
  ['tasking', 'orders.tasking.quotation_decide before-commit'],
]
const ALL = Object.entries(POINTS).flatMap(([way, points]) => points.map((point): [Way, string] => [way as Way, point]))
/** WAYS=planet,skyfi runs these alone, and POINT='response|after-vendor' those points whose names match. */
const WAYS = process.env['WAYS']?.split(',')
const POINT = new RegExp(process.env['POINT'] ?? '')
const CHOSEN = campaign<readonly [Way, string][]>({ short: SHORT, ci: someOf(ALL, 8), long: ALL }).filter(
  ([way, point]) => (WAYS?.includes(way) ?? true) && POINT.test(point),
)
const END_MS = 1_800_000
const PAUSE_MS = 250
/** Each is a service with a database of its own. */
const MAX_SIDE_BY_SIDE = 6

/** How an order may end. What the vendor has cancelled for us before we died may be found out by a look before it is asked for again. */
function endsOf(way: Way): readonly string[] {
  if (way === 'failing') return ['failed']
  if (way.endsWith('rejected')) return ['cancelled']
  return way.endsWith('cancelled') ? ['cancelled', 'failed'] : ['fulfilled']
}

// oxlint-disable-next-line typescript/no-explicit-any
type Order = any

/** Most of the time is spent waiting for what was lost to be taken up again, so the ways are gone side by side. */
test('kill -9 along the way of an order', { timeout: 5_400_000, concurrency: MAX_SIDE_BY_SIDE }, async (t) => {
  const ways = Map.groupBy(CHOSEN, ([way]) => way)
  await Promise.all([...ways].map(([way, chosen]) => t.test(way, async (inner) => await walk(inner, way, chosen))))
})

async function walk(t: TestContext, way: Way, chosen: readonly [Way, string][]): Promise<void> {
  const lab = openLab()
  t.after(() => lab.close())
  const database = await createEmptyDatabase()
  t.after(() => database.drop())
  const vendor = await vendorOutside(t, lab, way)
  const rig = new Rig(lab, database.url, vendor?.env ?? {})
  await rig.open(vendor?.hostName ?? 'sandbox-hr')
  const orders: string[] = []

  for (const [, point] of chosen)
    await t.test(point, async () => {
      await rig.restart(way, point)
      const order = await new Journey(rig, way).travel()
      orders.push(order.id)
      assert.ok(endsOf(way).includes(order.status), `${order.status}: ${order.failureReason}`)
      const isOver = () => rig.deaths > 0 && (order.status === 'fulfilled' || (vendor?.isWithdrawn() ?? true))
      await rig.wait(isOver, `the vendor keeps the order, or nothing died at '${point}'`)
      assert.equal(rig.deaths, 1, 'it died where it should')
      const isDelivered = order.status === 'fulfilled'
      assert.deepEqual([order.itemIds.length, order.capturedCredits], isDelivered ? [1, order.totalCredits] : [0, 0])
      const { reserved_credits } = await ok(rig.service.baseUrl, rig.buyer.token, 'billing.credits.balance')
      assert.equal(reserved_credits, 0, 'nothing stays set aside')
      for (const [what, count] of Object.entries(vendor?.counts() ?? {}))
        assert.equal(count, orders.length, `one at the vendor for each of ours: ${what}`)
    })

  const list = await ok(rig.service.baseUrl, rig.buyer.token, 'orders.list', { size: 100 })
  assert.deepEqual(list.content.map(({ id }: Order) => id).toSorted(), orders.toSorted(), 'one order for each key')
  await rig.service.kill('SIGKILL')
  const { db, close } = openDatabase(database.url, { maxConnections: 2 })
  t.after(close)
  assert.deepEqual(await orderViolations(db), [])
}

interface Outside {
  hostName: string
  registry: string
  env: Record<string, string>
  /** What the vendor has; each is as many as we have orders. */
  counts(): Readonly<Record<string, number>>
  /** Whether the vendor has nothing that it would still do or charge for. */
  isWithdrawn(): boolean
  close(): Promise<void>
}

const POLL = { poll: { minSeconds: 1, maxSeconds: 2 } }

async function skyfiOutside(workDir: string): Promise<Outside> {
  const skyfi = await startSkyfi({ clock: systemClock, workDir, stepSeconds: 1 })
  const { api, files } = skyfi.hosts
  return {
    hostName: 'skyfi',
    registry: skyfiRegistry(skyfi, POLL),
    env: { VENDOR_SKYFI_KEY: skyfi.key, EGRESS_ALLOW: `${api},${files}` },
    counts: () => ({ orders: skyfi.orders.length }),
    isWithdrawn: () => skyfi.orders.length === 0,
    close: () => skyfi.close(),
  }
}

/** The image of a tasking order is an order of its own. */
async function planetOutside(workDir: string, stepSeconds: number, way: 'archive' | 'tasking' | 'tasking cancelled'): Promise<Outside> {
  const planet = await startPlanet({ clock: systemClock, workDir, stepSeconds })
  const { api, tiles, files } = planet.hosts
  const { orders, taskings } = planet
  const counts = {
    archive: () => ({ orders: orders.length }),
    tasking: () => ({ orders: orders.length, taskings: taskings.length }),
    'tasking cancelled': () => ({ taskings: taskings.length }),
  }
  return {
    hostName: 'planet',
    registry: planetRegistry(planet, POLL),
    env: { VENDOR_PLANET_KEY: planet.key, EGRESS_ALLOW: `${api},${tiles},${files}` },
    counts: counts[way],
    isWithdrawn: () => [...orders, ...taskings].every(({ isCancelled }) => isCancelled),
    close: () => planet.close(),
  }
}

async function up42Outside(workDir: string, stepSeconds: number): Promise<Outside> {
  const up42 = await startUp42({ clock: systemClock, workDir, stepSeconds })
  const { api, files } = up42.hosts
  return {
    hostName: 'up42',
    registry: up42Registry(up42, POLL),
    env: { VENDOR_UP42_USER: up42.user, VENDOR_UP42_PASSWORD: up42.password, EGRESS_ALLOW: `${api},${files}` },
    counts: () => ({ orders: up42.orders.length }),
    isWithdrawn: () => up42.orders.every(({ isCancelled, quotation }) => isCancelled || quotation?.decision === 'REJECTED'),
    close: () => up42.close(),
  }
}

async function umbraOutside(workDir: string, stepSeconds: number): Promise<Outside> {
  const umbra = await startUmbra({ clock: systemClock, workDir, stepSeconds })
  const { api, files } = umbra.hosts
  return {
    hostName: 'umbra',
    registry: umbraRegistry(umbra, POLL),
    env: { VENDOR_UMBRA_CLIENT_ID: umbra.clientId, VENDOR_UMBRA_CLIENT_SECRET: umbra.clientSecret, EGRESS_ALLOW: `${api},${files}` },
    counts: () => ({ tasks: umbra.tasks.length }),
    isWithdrawn: () => umbra.tasks.every(({ cancelRequestedAt }) => cancelRequestedAt !== null),
    close: () => umbra.close(),
  }
}

async function stapiOutside(workDir: string, stepSeconds: number): Promise<Outside> {
  const stapi = await startStapi({ clock: systemClock, workDir, stepSeconds })
  const { api, files } = stapi.hosts
  return {
    hostName: 'stapi',
    registry: stapiRegistry(stapi, POLL),
    env: { VENDOR_STAPI_KEY: stapi.key, EGRESS_ALLOW: `${api},${files}` },
    counts: () => ({ orders: stapi.orders.length }),
    isWithdrawn: () => stapi.orders.every(({ cancelledAt }) => cancelledAt !== null),
    close: () => stapi.close(),
  }
}

/** An order that is cancelled stays as it is for longer than anybody takes. */
const [SOON, LATE] = [1, 3_600]
const OUTSIDE: Partial<Record<Way, (workDir: string) => Promise<Outside>>> = {
  skyfi: skyfiOutside,
  'skyfi tasking': skyfiOutside,
  planet: (workDir) => planetOutside(workDir, SOON, 'archive'),
  'planet cancelled': (workDir) => planetOutside(workDir, LATE, 'archive'),
  'planet tasking': (workDir) => planetOutside(workDir, SOON, 'tasking'),
  'planet tasking cancelled': (workDir) => planetOutside(workDir, LATE, 'tasking cancelled'),
  up42: (workDir) => up42Outside(workDir, SOON),
  'up42 cancelled': (workDir) => up42Outside(workDir, LATE),
  'up42 tasking': (workDir) => up42Outside(workDir, SOON),
  'up42 tasking rejected': (workDir) => up42Outside(workDir, SOON),
  umbra: (workDir) => umbraOutside(workDir, SOON),
  'umbra cancelled': (workDir) => umbraOutside(workDir, LATE),
  'umbra tasking': (workDir) => umbraOutside(workDir, SOON),
  'stapi tasking': (workDir) => stapiOutside(workDir, SOON),
  'stapi tasking cancelled': (workDir) => stapiOutside(workDir, LATE),
}

/** The product of new images at each host, and the side of an area of it in degrees. */
const TASKED: Readonly<Record<string, [product: string, degrees: number]>> = {
  'sandbox-hr': ['sandbox-vhr-assured', 0.002],
  skyfi: ['skyfi-day-tasking', 0.005],
  planet: ['planet-skysat-tasking', 0.005],
  up42: ['up42-pneo-tasking', 0.005],
  umbra: ['umbra-spotlight', 0.005],
  stapi: ['stapi-area', 0.005],
}

/** A vendor's API in this process, so that it outlives the service. Null: the sandbox of the service itself. */
async function vendorOutside(t: TestContext, lab: Lab, way: Way) {
  const start = OUTSIDE[way]
  if (!start) return null
  const dataDir = lab.dataDir()
  const { registry, env, ...vendor } = await start(path.join(dataDir, 'files'))
  t.after(() => vendor.close())
  const sources = path.join(dataDir, 'sources.json')
  mkdirSync(dataDir, { recursive: true })
  writeFileSync(sources, registry)
  return { ...vendor, env: { OFFLINE: '0', SOURCES: sources, EXCHANGE_RATES: 'USD=1.5,EUR=1.6@2026-11-01', ...env } }
}

/** The service that dies, and its buyer. */
class Rig {
  readonly #lab: Lab
  readonly #databaseUrl: string
  readonly #dataDir: string
  readonly #env: Record<string, string>
  #way: Way = 'archive'
  service!: Service
  buyer!: Owner
  projectId = ''
  sceneId = ''
  host = ''
  deaths = 0

  constructor(lab: Lab, databaseUrl: string, env: Record<string, string>) {
    this.#env = env
    this.#lab = lab
    this.#databaseUrl = databaseUrl
    this.#dataDir = lab.dataDir()
  }

  async open(host: string): Promise<void> {
    this.host = host
    this.service = await this.#start(null)
    const { baseUrl } = this.service
    this.buyer = await createOwner(baseUrl, 'buyer@example.com')
    const { token } = this.buyer
    await ok(baseUrl, token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa' })
    await ok(baseUrl, token, 'billing.topup', { aud_cents: 1_000_000 })
    this.projectId = (await ok(baseUrl, token, 'projects.create', { name: 'Deliveries' })).id
    const search = await ok(baseUrl, token, 'catalog.search', { host_name: host, intersects: square(), limit: 1 })
    this.sceneId = search.features[0]?.id ?? '' // A host of new images only has none.
    for (const { id } of (await ok(baseUrl, token, 'eulas.list')).content) {
      const { content } = await ok(baseUrl, token, 'eulas.documents.list', { eula_id: id })
      await ok(baseUrl, token, 'eulas.document.accept', { eula_id: id, document_id: content[0].id })
    }
  }

  /** With the point at which it shall die. Sessions are shorter than a campaign, so the buyer signs in anew. */
  async restart(way: Way, point: string): Promise<void> {
    await this.service.kill('SIGKILL')
    this.#way = way
    this.deaths = 0
    this.service = await this.#start(point)
    const { email, organizationId } = this.buyer
    const { body, text } = await post(this.service.baseUrl, '/auth/sign-in', { email, password: PASSWORD, organization_id: organizationId })
    if (!body?.access_token) throw new Error(text)
    this.buyer = { ...this.buyer, token: body.access_token }
  }

  /** Null: it died, and is there again. */
  async call(id: string, input: object, key: string): Promise<Reply | null> {
    try {
      return await call(this.service.baseUrl, this.buyer.token, id, input, { 'idempotency-key': key })
    } catch {
      await this.service.exited
      this.deaths++
      this.service = await this.#start(null)
      return null
    }
  }

  /** Until something has happened in the background, whether the service lives or dies meanwhile. */
  async wait(isDone: () => boolean, failure: string): Promise<void> {
    const deadline = Date.now() + END_MS
    while (!isDone()) {
      assert.ok(Date.now() < deadline, failure)
      await this.call('orders.list', { size: 1 }, newId())
      await pause(PAUSE_MS)
    }
  }

  /** A vendor that takes its time leaves some for cancelling. */
  #start(point: string | null): Promise<Service> {
    return this.#lab.start({
      entry: 'test/orders/service.ts',
      env: {
        DATA_DIR: this.#dataDir,
        DATABASE_URL: this.#databaseUrl,
        DEMO: '0',
        ...this.#env,
        SANDBOX_DELIVERY_SECONDS: this.#way === 'cancelled' ? '90' : '1',
        ...(point ? { KILL_POINT: point } : {}),
      },
    })
  }
}

/** One order from its placing to its end, by a client that repeats with the same key what got no answer. */
class Journey {
  readonly #rig: Rig
  readonly #way: Way
  readonly #keys = new Map<string, string>()

  constructor(rig: Rig, way: Way) {
    this.#rig = rig
    this.#way = way
  }

  async travel(): Promise<Order> {
    const deadline = Date.now() + END_MS
    const placed = await this.#do(...this.#placement())
    for (;;) {
      const order = await this.#do('orders.get', { id: placed.id })
      if (['fulfilled', 'failed', 'cancelled'].includes(order.status)) return order
      assert.ok(Date.now() < deadline, `the order does not end: ${JSON.stringify(order)}`)
      if (this.#way.endsWith('cancelled') && order.groups[0].status === 'placed')
        await this.#do('orders.cancel', { id: order.id }, [200, 400])
      if (order.subStatus === 'feasibility_ready') await this.#decideStudy(order)
      if (order.subStatus === 'quotation_ready') await this.#decideQuotation(order)
      await pause(PAUSE_MS)
    }
  }

  #placement(): [id: string, input: object] {
    const { projectId, sceneId, host } = this.#rig
    if (this.#way.includes('tasking') || this.#way === 'rejected') {
      const day = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()
      const [dataProduct, degrees] = TASKED[host]!
      const params = { acquisitionStart: day(2), acquisitionEnd: day(9) }
      const group = { dataProduct, featureCollection: features(square(2.3, 48.2, degrees)), params }
      return ['orders.tasking.place', { projectId, displayName: 'New', groups: [group] }]
    }
    const isFailing = this.#way === 'failing'
    const capture = { id: isFailing ? 'fail-order' : sceneId, geometry: square(), host: isFailing ? 'sandbox-flaky' : host }
    return ['orders.archive.place', { projectId, captures: [capture] }]
  }

  async #decideStudy({ id }: Order): Promise<void> {
    const { content } = await this.#do('orders.tasking.feasibility_studies.list', { orderId: id })
    await this.#do('orders.tasking.feasibility_decide', { study_id: content[0].id, acceptedOptionId: content[0].options[0].id })
  }

  async #decideQuotation({ id }: Order): Promise<void> {
    const { content } = await this.#do('orders.tasking.quotations.list', { orderId: id })
    const decision = this.#way.endsWith('rejected') ? 'REJECTED' : 'ACCEPTED'
    await this.#do('orders.tasking.quotation_decide', { quotation_id: content[0].id, decision })
  }

  /** Again until it is answered: the same request has the same key. */
  async #do(id: string, input: object, statuses: readonly number[] = [200]): Promise<Order> {
    if (!this.#keys.has(id)) this.#keys.set(id, newId())
    for (;;) {
      const reply = await this.#rig.call(id, input, this.#keys.get(id)!)
      if (!reply) continue
      assert.ok(statuses.includes(reply.status), `${id}: ${reply.status} ${reply.text}`)
      return reply.body
    }
  }
}
