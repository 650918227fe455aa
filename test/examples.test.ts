// Goal: what the reference shows works: every operation, called with its documented example about things that are there, is
// answered with the documented success by a live service, those that spend too.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validatorOf } from '#core/validate.ts'
import type { AnyOperation } from '#operation.ts'
import { operations } from '#registry.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'
import { cast, CLIP_EMAIL, PRINCIPALS, STAFF_EMAIL, type PrincipalName } from './security/cast.ts'
import { collection, colleague, OPEN_HOST } from './security/makers.ts'
import { rows } from './security/rows.ts'
import { statusesOf } from './security/statuses.ts'
import { grant } from './orders/support.ts'
import { rasterItem } from './support/layers.ts'
import { scene } from './support/scene.ts'
import { world, type Org, type World } from './support/world.ts'

type Fields = Record<string, unknown>

/** Fields that name a thing. Those of an example name things of its own small world, and are given those of the test's. */
const NAMES =
  /(^|_)(ids?|token|password|href|key)$|^(id|projectId|orderId|workspaceId|acceptedOptionId|endpoint_url|data_asset|entity_type)$/
/** These need a file of ours, and their rows are about one elsewhere. */
const PIXELS = ['items.set_asset_band_names', 'clip.create_from_item', 'alerts.test_rule']
/** Examples that no world of a test can have at hand, and why; each is called with its like by the tests of its domain. */
const ABOUT_OTHERS: ReadonlyMap<string, string> = new Map([
  ['catalog.granule_points', 'the address of a granule holds the port of the sandbox'],
  ['catalog.scene.cloud_cover', 'a scene of a host on the internet'],
  ['catalog.scene.copy', 'a scene of a host on the internet'],
  ['catalog.scene.save', 'a scene of a host on the internet'],
  ['clip.create_from_area', 'the designated clip user, with a project of their own'],
  ['clip.job.download', 'a finished clip with files'],
  ['mosaic.register', 'a file on a public host'],
  ['organizations.domains.verify', 'a domain that was added before'],
  ['organizations.sso.set_rules', 'a provider that works'],
  ['organizations.two_factors.set', 'an owner who has two factors'],
  ['processing.job.register', 'the token of a worker for one job'],
  ['saved_searches.create', 'a collection of a host on the internet'],
  ['share.wmts_capabilities', 'a public link'],
])
/** Who calls what the owner may not. */
const OTHERS: readonly PrincipalName[] = ['owner', 'clip', 'staff', 'service of A', 'service', 'worker']

const mapped = (value: unknown, change: (text: string) => string): unknown =>
  typeof value === 'string'
    ? change(value)
    : Array.isArray(value)
      ? value.map((each) => mapped(each, change))
      : value !== null && typeof value === 'object'
        ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mapped(each, change)]))
        : value

/** One of everything that rows of the security tests do not make, since they want hosts that nobody allowed. */
async function things(w: World, org: Org) {
  // Of half a continent, so that the places of examples lie in it.
  const bytes = await scene({ west: 140, north: -10, degrees: 0.1, height: 300 })
  const itemId = await rasterItem(w, org, [{ bytes }])
  const object = { bucket: `svc-${org.projectId}`, key: 'example.tif' }
  await w.storage.put(object, bytes, { contentType: 'image/tiff' })
  const url = await w.storage.signGet({ ...object, expiresInSeconds: 3_600 })
  const password = 'coral and sand'
  const shared = { target_type: 'item', target_id: itemId, permission: 'download', password, expires_at: '2040-01-01T00:00:00Z' }
  const { token } = await w.ok(org.owner.token, 'share.link.create', shared)
  const ids = new Map<string, string>([
    [EXAMPLE_IDS.item, itemId],
    [EXAMPLE_IDS.project, org.projectId],
    [EXAMPLE_IDS.organization, org.id],
    [EXAMPLE_IDS.user, org.owner.id],
    [EXAMPLE_IDS.otherUser, await colleague(w, org)],
    [EXAMPLE_IDS.collection, (await collection(w, org)).collection_id],
  ])
  return { itemId, url, shared: { token: token as string, password }, ids }
}

type Things = Awaited<ReturnType<typeof things>>

/** The example, about things that are there. */
function exampleOf(op: AnyOperation, fields: Fields, about: Things, now: Date): Fields {
  const given = op.example.input as Fields
  const statuses = statusesOf(rows.get(op.id)!.a)
  const readsPixels = statuses.includes(422) || PIXELS.includes(op.id)
  const isMade = statuses[PRINCIPALS.indexOf('owner')] !== 404 // Else the row is about something that is nowhere.
  const input: Fields = {}
  for (const [name, value] of Object.entries(given))
    input[name] = isMade && NAMES.test(name) && Object.hasOwn(fields, name) ? fields[name] : value
  for (const name of ['item_id', 'source_item_id']) if (readsPixels && name in input) input[name] = about.itemId
  if (readsPixels && 'token' in input) Object.assign(input, about.shared)
  if ('url' in input && op.id.startsWith('cog.')) input['url'] = about.url
  // What is to be taken lies ahead, whenever the reference is read.
  const ahead = (text: string) => new Date(now.getTime() + new Date(text).getTime() - Date.UTC(2026, 2, 1)).toISOString()
  const isTime = (text: string) => op.id.startsWith('orders.tasking.') && /^2026-\d\d-\d\dT/.test(text)
  return mapped(input, (text) => about.ids.get(text) ?? (isTime(text) ? ahead(text) : text)) as Fields
}

const MAX_AGAIN = 3

test('the example of every operation works on a live service', { timeout: 60 * 60_000 }, async (t) => {
  const w = await world(t, {
    systemAdminEmails: [STAFF_EMAIL],
    clipUserEmail: CLIP_EMAIL,
    payments: { manualNotices: true },
    egressAllow: [OPEN_HOST],
    vendors: true,
  })
  const { a, credential } = await cast(w)
  const about = await things(w, a)
  await grant(w, a, 1_000_000)
  const failed: string[] = []
  for (const [id, op] of operations) {
    const row = rows.get(id)!
    const input = exampleOf(op, (await row.input(w, a)) as Fields, about, w.clock.now())
    const statuses = statusesOf(row.a)
    const statusOf = (name: PrincipalName) => statuses[PRINCIPALS.indexOf(name)]!
    const caller = OTHERS.find((name) => statusOf(name) === 200) ?? OTHERS.find((name) => ![401, 403].includes(statusOf(name))) ?? 'owner'
    let answer = await w.call(credential(caller), id, input)
    // The sandbox draws its scenes on this very machine: one that was not ready in time is asked for again.
    for (let again = 0; again < MAX_AGAIN && [502, 504].includes(answer.status); again++)
      answer = await w.call(credential(caller), id, input)
    if (answer.status !== 200) {
      failed.push(id)
      if (!ABOUT_OTHERS.has(id)) t.diagnostic(`${id} as ${caller}: ${answer.status} ${answer.bytes.toString().slice(0, 400)}`)
    }
    if (answer.status === 200 && op.raw === undefined) assert.deepEqual(validatorOf(op.output).Errors(answer.body), [], id)
  }
  assert.deepEqual(failed.toSorted(), [...ABOUT_OTHERS.keys()].toSorted())
})
