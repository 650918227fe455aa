import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { newId } from '#core/ids.ts'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { operations } from '#registry.ts'
import { scene } from '../support/scene.ts'
import { world, type Answer, type Org, type World } from '../support/world.ts'
import { cast, CLIP_EMAIL, PRINCIPALS, STAFF_EMAIL, withoutInstance, type PrincipalName } from './cast.ts'
import { businessDigest } from './digest.ts'

/*
 * Goal: every operation answers every kind of caller with the one right status, for things of the caller's organization and
 * of another one; what another organization holds looks exactly like what does not exist; a refusal changes nothing.
 *
 * One line per operation and organization, one column per principal, in the order of PRINCIPALS:
 *   none garbage revoked expired | owner admin member clip | foreign loner | read write process | worker service service-of-A staff
 */
interface Row {
  /** Makes something in the organization that the call is about, and says what to send. */
  input(w: World, org: Org): Promise<object> | object
  /** The same call about something that does not exist; absent where the operation takes no id. */
  missing?(input: object): object
  a: string
  b?: string
}

const NOBODY = '401 401 401 401'

const project = async (w: World, org: Org) => (await w.ok(org.owner.token, 'projects.create', { name: 'Target' })).id as string
const withMember = async (w: World, org: Org, more: object) => {
  const project_id = await project(w, org)
  const guest = await stranger(w)
  await w.ok(org.owner.token, 'projects.add_member', { project_id, user_id: guest, role: 'viewer' })
  return { project_id, user_id: guest, ...more }
}
/** Signing up is limited by address, so one person is everybody's guest. */
const strangers = new WeakMap<World, Promise<string>>()
const stranger = (w: World) => {
  if (!strangers.has(w))
    strangers.set(
      w,
      w.person().then(({ id }) => id),
    )
  return strangers.get(w)!
}
const otherProject = (input: object) => ({ ...input, project_id: newId() })
const otherKey = (input: object) => ({ ...input, key_id: newId() })
const otherOrganization = (input: object) => ({ ...input, organizationId: newId() })

const CHANGES_A_PROJECT = {
  missing: otherProject,
  a: `${NOBODY} | 200 200 403 403 | 404 404 | 403 200 403 | 403 200 200 404`,
  b: `${NOBODY} | 404 404 404 404 | 200 404 | 403 404 403 | 403 200 404 404`,
}

const READS_A_PROJECT = {
  missing: otherProject,
  a: `${NOBODY} | 200 200 200 200 | 404 404 | 200 200 200 | 403 200 200 404`,
  b: `${NOBODY} | 404 404 404 404 | 200 404 | 404 404 404 | 403 200 404 404`,
}
const otherItem = (input: object) => ({ ...input, item_id: newId() })
const otherCollection = (input: object) => ({ ...input, collection_id: newId() })
const item = async (w: World, org: Org) => ({
  item_id: (
    await w.ok(org.owner.token, 'items.create', {
      project_id: org.projectId,
      type: 'user_raster',
      name: 'Target',
      assets: [
        { key: 'data', href: 'https://data.example/a.tif' },
        { key: 'more', href: 'https://data.example/b.tif' },
      ],
    })
  ).id as string,
})
const asset = async (w: World, org: Org) => ({ ...(await item(w, org)), asset_id: 'data' })
const otherUpload = (input: object) => ({ ...input, upload_id: newId() })
const smallCog = scene({ width: 16, height: 16 })
const upload = async (w: World, org: Org) => ({
  upload_id: (await w.ok(org.owner.token, 'uploads.initiate', { project_id: org.projectId, total_bytes: 100 })).id as string,
})
const uploaded = async (w: World, org: Org) => {
  const session = await upload(w, org)
  await w.put((await w.ok(org.owner.token, 'uploads.signed_url', { ...session, file_name: 'a.tif' })).upload_url, await smallCog)
  return session
}
const collection = async (w: World, org: Org) => ({
  project_id: org.projectId,
  collection_id: (await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Target' })).id as string,
})

/** Authentication and the scope are the only gates of the COG operations. */
const ANYBODY = { a: `${NOBODY} | 200 200 200 200 | 200 200 | 200 200 200 | 403 200 200 200` }
/** Whoever passes them is then told that the host is not an allowed one. */
const ANY_URL = { a: ANYBODY.a.replaceAll('200', '422') }
/** Whoever may read the item is told the same of its file. */
const READS_PIXELS = { a: READS_A_PROJECT.a.replaceAll('200', '422'), b: READS_A_PROJECT.b.replaceAll('200', '422') }
const profile = async (w: World, org: Org, more: object = {}) => {
  const { item_id } = await item(w, org)
  return {
    item_id,
    profile_id: (
      await w.ok(org.owner.token, 'visualization.profile.create', { item_id, name: 'Target', type: 'rgb', config: { bands: [1, 2, 3] } })
    ).id as string,
    ...more,
  }
}
const ELSEWHERE = 'https://elsewhere.example/a.tif'

/** What the organization itself owns, without an id to name: whoever acts for it reads it. */
const READS_OWN = { a: `${NOBODY} | 200 200 200 200 | 200 403 | 200 200 200 | 403 403 200 403` }
/** Money is the owner's, the admins' and the billing admin's. */
const CHANGES_MONEY = { a: `${NOBODY} | 200 200 403 403 | 200 403 | 403 200 403 | 403 403 200 403` }
const NAMES_ORGANIZATION = {
  input: (_w: World, org: Org) => ({ organization_id: org.id }),
  missing: (input: object) => ({ ...input, organization_id: newId() }),
}
const OPERATORS = {
  missing: NAMES_ORGANIZATION.missing,
  a: `${NOBODY} | 403 403 403 403 | 403 403 | 403 403 403 | 403 200 200 200`,
  b: `${NOBODY} | 403 403 403 403 | 403 403 | 403 403 403 | 403 200 200 200`,
}
const card = async (w: World, org: Org) => ({
  payment_method_row_id: (await w.ok(org.owner.token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa' })).id as string,
})
const CHANGES_A_CARD = {
  input: card,
  missing: (input: object) => ({ ...input, payment_method_row_id: newId() }),
  a: `${NOBODY} | 200 200 403 403 | 404 403 | 403 200 403 | 403 403 200 403`,
  b: `${NOBODY} | 404 404 403 403 | 200 403 | 403 404 403 | 403 403 404 403`,
}
const ownRequest = async (w: World, org: Org) => ({
  approval_id: (await w.ok(org.owner.token, 'billing.approvals.request', { credits: 5 })).id as string,
})
const otherApproval = (input: object) => ({ ...input, approval_id: newId() })
/** A request of somebody else, so that its owner may approve it. */
const request = async (w: World, org: Org) => {
  const at = w.clock.now()
  const { id } = await w.db
    .insertInto('approval')
    .values({
      id: newId(),
      org_id: org.id,
      requested_by: await stranger(w),
      credits: 5,
      created_at: at,
      expires_at: new Date(at.getTime() + 3600_000),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { approval_id: id }
}
const months = new WeakMap<World, number>()
/** A settled month that no other row of this test uses. */
const settled = async (w: World, org: Org) => {
  const nth = (months.get(w) ?? 0) + 1
  months.set(w, nth)
  const [at, period, id] = [w.clock.now(), `${1900 + Math.floor(nth / 12)}-${String((nth % 12) + 1).padStart(2, '0')}`, newId()]
  await w.db
    .insertInto('invoice')
    .values({
      id,
      org_id: org.id,
      number: id,
      period,
      status: 'open',
      lines: '[]',
      commitments: '[]',
      customer: JSON.stringify({ name: 'x', abn: null, tax_number: null, billing_email: null, billing_address: null }),
      subtotal_cents: 100,
      gst_cents: 0,
      total_cents: 100,
      due_cents: 100,
      issued_at: at,
      due_at: at,
    })
    .execute()
  return { id, period }
}
const otherOrganizationId = (input: object) => ({ ...input, organization_id: newId() })
const READS_USAGE = {
  input: (_w: World, org: Org) => ({ organization_id: org.id }),
  missing: otherOrganizationId,
  a: `${NOBODY} | 200 200 200 200 | 403 403 | 200 200 200 | 403 403 200 403`,
  b: `${NOBODY} | 403 403 403 403 | 200 403 | 403 403 403 | 403 403 403 403`,
}
/** Whoever may ask is told that the host is not an allowed one. */
const allowedBut422 = (row: string) => row.replaceAll('200', '422')
/** An asset whose bands its metadata tells: its host need not be asked. */
const namedBands = async (w: World, org: Org) => {
  const id = newId()
  await w.ok(org.owner.token, 'items.import_stac', {
    project_id: org.projectId,
    ndjson: JSON.stringify({
      type: 'Feature',
      id,
      geometry: null,
      properties: { datetime: '2029-01-01T00:00:00Z' },
      assets: { data: { href: ELSEWHERE, 'eo:bands': [{ name: 'B04' }] } },
    }),
  })
  return { item_id: id, asset_id: 'data', band_names: ['red'] }
}
/** Operator operations. */
const STAFF_ONLY = { a: `${NOBODY} | 403 403 403 403 | 403 403 | 403 403 403 | 403 200 200 200` }

/** A link to an item whose file lies on a host that nobody allowed. */
const link = async (w: World, org: Org) => {
  const { item_id } = await item(w, org)
  const { id, token } = await w.ok(org.owner.token, 'share.link.create', {
    target_type: 'item',
    target_id: item_id,
    permission: 'download',
    password: 'coral and sand',
    expires_at: '2040-01-01T00:00:00Z',
  })
  const [{ id: asset_id }] = await w.ok(org.owner.token, 'items.list_assets', { item_id })
  return { link_id: id as string, opens: { token: token as string, password: 'coral and sand' }, asset_id: asset_id as string }
}
/** The link’s token and password are the credential, so every principal is the same visitor. */
const VISITORS = { a: PRINCIPALS.map(() => 200).join(' ') }

const EXPECTED: Record<string, Row> = {
  // Cards come first: what is charged below needs one in either organization.
  'payment_methods.attach': { ...CHANGES_MONEY, input: () => ({ payment_method_id: 'pm_card_visa' }) },
  'payment_methods.create_setup_intent': { ...CHANGES_MONEY, input: () => ({}) },
  'payment_methods.detach': CHANGES_A_CARD,
  'payment_methods.list': { ...READS_OWN, input: () => ({}) },
  'payment_methods.set_default': CHANGES_A_CARD,
  'billing.approvals.approve': { ...CHANGES_A_CARD, input: request, missing: otherApproval },
  'billing.approvals.get': {
    input: ownRequest,
    missing: otherApproval,
    a: `${NOBODY} | 200 200 403 403 | 404 403 | 200 200 200 | 403 403 200 403`,
    b: `${NOBODY} | 404 404 404 404 | 200 403 | 404 404 404 | 403 403 404 403`,
  },
  'billing.approvals.list': { ...READS_OWN, input: () => ({}) },
  'billing.approvals.reject': {
    input: ownRequest,
    missing: otherApproval,
    a: `${NOBODY} | 200 200 403 403 | 404 403 | 403 200 403 | 403 403 200 403`,
    b: `${NOBODY} | 404 404 404 404 | 200 403 | 403 404 403 | 403 403 404 403`,
  },
  'billing.approvals.request': {
    input: () => ({ credits: 5 }),
    a: `${NOBODY} | 200 200 200 200 | 200 403 | 403 200 403 | 403 403 403 403`,
  },
  'billing.auto_topup.get': { ...READS_OWN, input: () => ({}) },
  'billing.credits.balance': { ...READS_OWN, input: () => ({}) },
  'billing.credits.grant': { ...OPERATORS, input: (_w, org) => ({ organization_id: org.id, credits: 5, reason: 'x' }) },
  'billing.credits.transactions': { ...READS_OWN, input: () => ({}) },
  'billing.enterprise.accrual': { ...OPERATORS, input: NAMES_ORGANIZATION.input },
  'billing.enterprise.mark_invoiced': { ...OPERATORS, input: (_w, org) => ({ organization_id: org.id, reference: 'x' }) },
  'billing.invoices.get': {
    input: async (w, org) => ({ invoice_id: (await settled(w, org)).id }),
    missing: () => ({ invoice_id: newId() }),
    a: `${NOBODY} | 200 200 200 200 | 404 403 | 200 200 200 | 403 403 200 403`,
    b: `${NOBODY} | 404 404 404 404 | 200 403 | 404 404 404 | 403 403 404 403`,
  },
  'billing.invoices.list': { ...READS_OWN, input: () => ({}) },
  'billing.jobs.settle_unsettled': { input: () => ({}), a: OPERATORS.a },
  'billing.reconciliation.run': { ...OPERATORS, input: NAMES_ORGANIZATION.input },
  'billing.run_monthly_cron': { input: () => ({}), a: OPERATORS.a },
  'billing.run_monthly_for_org': {
    ...NAMES_ORGANIZATION,
    a: `${NOBODY} | 200 200 403 403 | 403 403 | 403 200 403 | 403 200 200 200`,
    b: `${NOBODY} | 403 403 403 403 | 200 403 | 403 403 403 | 403 200 200 200`,
  },
  'billing.set_auto_topup': { ...CHANGES_MONEY, input: () => ({ enabled: false, threshold_credits: 1, topup_amount_credits: 10_000 }) },
  'billing.status.get': {
    ...NAMES_ORGANIZATION,
    a: `${NOBODY} | 200 200 200 200 | 403 403 | 200 200 200 | 403 403 200 403`,
    b: `${NOBODY} | 403 403 403 403 | 200 403 | 403 403 403 | 403 403 403 403`,
  },
  'billing.stripe_invoices.list': { input: () => ({}), a: `${NOBODY} | 200 200 403 403 | 200 403 | 200 200 200 | 403 403 200 403` },
  'billing.topup': { ...CHANGES_MONEY, input: () => ({ aud_cents: 10_000 }) },
  'organizations.commitments.list': { ...READS_OWN, input: () => ({}) },
  'organizations.commitments.put': {
    ...OPERATORS,
    input: (_w, org) => ({
      organization_id: org.id,
      name: 'x',
      period_start: '2030-01-01',
      period_end: '2030-12-31',
      minimum_aud: 5,
      rates: [],
    }),
  },
  'organizations.commitments.statement': {
    ...NAMES_ORGANIZATION,
    input: async (w, org) => ({ organization_id: org.id, period: (await settled(w, org)).period }),
    a: `${NOBODY} | 200 200 200 200 | 403 403 | 200 200 200 | 403 403 200 403`,
    b: `${NOBODY} | 403 403 403 403 | 200 403 | 403 403 403 | 403 403 403 403`,
  },
  'organizations.set_billing_mode': { ...OPERATORS, input: (_w, org) => ({ organization_id: org.id, billing_mode: 'standard' }) },
  'api_keys.create': { input: () => ({ name: 'x' }), a: `${NOBODY} | 200 200 200 200 | 200 403 | 403 200 403 | 403 403 403 403` },
  'api_keys.list': { input: () => ({}), a: `${NOBODY} | 200 200 200 200 | 200 403 | 200 200 200 | 403 403 200 403` },
  'api_keys.revoke': {
    input: async (w, org) => ({ key_id: (await w.key(org.owner.token)).id }),
    missing: otherKey,
    a: `${NOBODY} | 200 200 403 403 | 404 403 | 403 200 403 | 403 403 403 403`,
    b: `${NOBODY} | 404 404 404 404 | 200 403 | 403 404 403 | 403 403 404 403`,
  },
  'api_keys.set_scopes': {
    input: async (w, org) => ({ key_id: (await w.key(org.owner.token)).id, scopes: ['clip:read'] }),
    missing: otherKey,
    a: `${NOBODY} | 403 403 403 403 | 403 403 | 403 403 403 | 403 200 200 200`,
    b: `${NOBODY} | 403 403 403 403 | 403 403 | 403 403 403 | 403 200 200 200`,
  },
  'assets.delete': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => {
      const { item_id } = await item(w, org)
      return { item_id, asset_id: (await w.ok(org.owner.token, 'items.list_assets', { item_id }))[1].id }
    },
    missing: otherItem,
  },
  'billing.plan.change': { input: () => ({ plan_id: 'free' }), a: `${NOBODY} | 200 200 403 403 | 200 403 | 403 200 403 | 403 403 200 403` },
  'billing.plans.list': { ...ANYBODY, input: () => ({}) },
  'collections.create': { ...CHANGES_A_PROJECT, input: (_w, org) => ({ project_id: org.projectId, name: 'x' }) },
  'collections.delete': { ...CHANGES_A_PROJECT, input: collection, missing: otherCollection },
  'collections.get': { ...READS_A_PROJECT, input: collection, missing: otherCollection },
  'collections.list': { ...READS_A_PROJECT, input: (_w, org) => ({ project_id: org.projectId }) },
  'collections.tile.render': {
    ...READS_A_PROJECT,
    input: async (w, org) => ({ collection_id: (await collection(w, org)).collection_id, z: 0, x: 0, y: 0 }),
    missing: otherCollection,
  },
  'collections.tile.tilejson': {
    ...READS_A_PROJECT,
    input: async (w, org) => ({ collection_id: (await collection(w, org)).collection_id }),
    missing: otherCollection,
  },
  'collections.update': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => ({ ...(await collection(w, org)), name: 'y' }),
    missing: otherCollection,
  },
  'cog.colormaps': { ...ANYBODY, input: () => ({}) },
  'cog.formulas': { ...ANYBODY, input: () => ({}) },
  'cog.statistics': {
    ...ANY_URL,
    input: () => ({
      url: ELSEWHERE,
      geometry: {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [1, 0],
            [1, 1],
            [0, 0],
          ],
        ],
      },
    }),
  },
  'cog.thumbnail': { ...ANY_URL, input: () => ({ url: ELSEWHERE }) },
  'cog.tile.render': { ...ANY_URL, input: () => ({ url: ELSEWHERE, z: 0, x: 0, y: 0, format: 'png' }) },
  'cog.tile.terrain': { ...ANY_URL, input: () => ({ url: ELSEWHERE, z: 0, x: 0, y: 0 }) },
  'items.asset.download': { ...READS_A_PROJECT, input: asset, missing: otherItem },
  'items.create': { ...CHANGES_A_PROJECT, input: (_w, org) => ({ project_id: org.projectId, type: 'user_raster', name: 'x' }) },
  'items.delete': { ...CHANGES_A_PROJECT, input: item, missing: otherItem },
  'items.detect_asset_bands': {
    ...READS_A_PROJECT,
    a: allowedBut422(READS_A_PROJECT.a),
    b: allowedBut422(READS_A_PROJECT.b),
    input: asset,
    missing: otherItem,
  },
  'items.duplicate': { ...CHANGES_A_PROJECT, input: item, missing: otherItem },
  'items.expire_batch': { ...STAFF_ONLY, input: () => ({}) },
  'items.get': { ...READS_A_PROJECT, input: item, missing: otherItem },
  'items.import_stac': {
    ...CHANGES_A_PROJECT,
    input: (_w, org) => ({
      project_id: org.projectId,
      ndjson: JSON.stringify({
        type: 'Feature',
        id: newId(),
        geometry: null,
        properties: { datetime: '2029-01-01T00:00:00Z' },
        assets: {},
      }),
    }),
  },
  'items.lineage': { ...READS_A_PROJECT, input: item, missing: otherItem },
  'items.list': { ...READS_A_PROJECT, input: (_w, org) => ({ project_id: org.projectId }) },
  'items.list_expiring': { ...STAFF_ONLY, input: () => ({}) },
  'items.list_assets': { ...READS_A_PROJECT, input: item, missing: otherItem },
  'items.list_by_collection': {
    ...READS_A_PROJECT,
    input: async (w, org) => ({ collection_id: (await collection(w, org)).collection_id }),
    missing: otherCollection,
  },
  'items.point': { ...READS_PIXELS, input: async (w, org) => ({ ...(await item(w, org)), longitude: 0, latitude: 0 }), missing: otherItem },
  'items.search': { ...READS_A_PROJECT, input: (_w, org) => ({ project_id: org.projectId }) },
  'items.search_org': { input: () => ({}), a: `${NOBODY} | 200 200 200 200 | 200 403 | 200 200 200 | 403 403 200 403` },
  'items.tile.render': { ...READS_PIXELS, input: async (w, org) => ({ ...(await item(w, org)), z: 0, x: 0, y: 0 }), missing: otherItem },
  'items.tile.statistics': {
    ...READS_PIXELS,
    input: async (w, org) => ({ ...(await item(w, org)), expression: 'b1' }),
    missing: otherItem,
  },
  'items.tile.tilejson': { ...READS_PIXELS, input: item, missing: otherItem },
  'items.tile.wmts_capabilities': {
    ...READS_PIXELS,
    input: async (w, org) => ({ ...(await item(w, org)), base_url: 'https://maps.example' }),
    missing: otherItem,
  },
  'items.tile.wmts_get_tile': {
    ...READS_PIXELS,
    input: async (w, org) => ({ ...(await item(w, org)), z: 0, x: 0, y: 0 }),
    missing: otherItem,
  },
  'items.set_asset_band_names': { ...CHANGES_A_PROJECT, input: namedBands, missing: otherItem },
  'items.update': { ...CHANGES_A_PROJECT, input: async (w, org) => ({ ...(await item(w, org)), name: 'y' }), missing: otherItem },
  'organizations.create': { input: () => ({ name: 'x' }), a: `${NOBODY} | 200 200 200 200 | 200 200 | 403 200 403 | 403 403 403 200` },
  'organizations.get': { input: () => ({}), a: `${NOBODY} | 200 200 200 200 | 200 403 | 200 200 200 | 403 403 200 403` },
  'organizations.audit.list': { input: () => ({}), a: `${NOBODY} | 200 200 403 403 | 200 403 | 200 200 200 | 403 403 403 403` },
  'organizations.members.list': {
    input: (_w, org) => ({ organizationId: org.id }),
    missing: otherOrganization,
    a: `${NOBODY} | 200 200 403 403 | 403 403 | 200 200 200 | 403 403 403 403`,
    b: `${NOBODY} | 403 403 403 403 | 200 403 | 403 403 403 | 403 403 403 403`,
  },
  'organizations.members.set_spend_limit': {
    input: (_w, org) => ({ organizationId: org.id, userId: org.owner.id, perOrderLimitCredits: 5, spendLimitCredits: null }),
    missing: otherOrganization,
    a: `${NOBODY} | 200 200 403 403 | 403 403 | 403 200 403 | 403 403 403 403`,
    b: `${NOBODY} | 403 403 403 403 | 200 403 | 403 403 403 | 403 403 403 403`,
  },
  'projects.create': { input: () => ({ name: 'x' }), a: `${NOBODY} | 200 200 200 200 | 200 403 | 403 200 403 | 403 403 200 403` },
  'projects.list': { input: () => ({}), a: `${NOBODY} | 200 200 200 200 | 200 403 | 200 200 200 | 403 403 200 403` },
  'projects.get': {
    input: async (w, org) => ({ project_id: await project(w, org) }),
    missing: otherProject,
    a: `${NOBODY} | 200 200 200 200 | 404 404 | 200 200 200 | 403 200 200 404`,
    b: `${NOBODY} | 404 404 404 404 | 200 404 | 404 404 404 | 403 200 404 404`,
  },
  'projects.update': { ...CHANGES_A_PROJECT, input: async (w, org) => ({ project_id: await project(w, org), name: 'Renamed' }) },
  'projects.archive': { ...CHANGES_A_PROJECT, input: async (w, org) => ({ project_id: await project(w, org) }) },
  'projects.delete': { ...CHANGES_A_PROJECT, input: async (w, org) => ({ project_id: await project(w, org) }) },
  'projects.add_member': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => ({ project_id: await project(w, org), email: 'invited@example.com' }),
  },
  'projects.remove_member': { ...CHANGES_A_PROJECT, input: (w, org) => withMember(w, org, {}) },
  'projects.update_member': { ...CHANGES_A_PROJECT, input: (w, org) => withMember(w, org, { role: 'editor' }) },
  'provenance.get': {
    input: async (w, org) => ({ entity_type: 'project', entity_id: await project(w, org) }),
    missing: (input) => ({ ...input, entity_id: newId() }),
    a: `${NOBODY} | 200 200 200 200 | 404 403 | 200 200 200 | 403 403 200 403`,
    b: `${NOBODY} | 404 404 404 404 | 200 403 | 404 404 404 | 403 403 404 403`,
  },
  'usage.current': READS_USAGE,
  'usage.history': READS_USAGE,
  'usage.recalculate_storage': {
    input: async (w, org) => {
      await w.db.updateTable('storage_account').set({ recalculated_at: null }).execute()
      return { organization_id: org.id }
    }, // Else it is once an hour.
    missing: otherOrganizationId,
    a: `${NOBODY} | 200 200 403 403 | 403 403 | 403 200 403 | 403 403 200 403`,
    b: `${NOBODY} | 403 403 403 403 | 200 403 | 403 403 403 | 403 403 403 403`,
  },
  'share.asset.download': {
    ...VISITORS,
    input: async (w, org) => {
      const { opens, asset_id } = await link(w, org)
      return { ...opens, asset_id }
    },
  },
  'share.link.create': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => ({
      target_type: 'item',
      target_id: (await item(w, org)).item_id,
      password: 'coral and sand',
      expires_at: '2040-01-01T00:00:00Z',
    }),
    missing: (input) => ({ ...input, target_id: newId() }),
  },
  'share.link.revoke': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => ({ link_id: (await link(w, org)).link_id }),
    missing: (input) => ({ ...input, link_id: newId() }),
  },
  'share.link.validate': { ...VISITORS, input: async (w, org) => (await link(w, org)).opens },
  'share.links.list': {
    input: (_w, org) => ({ project_id: org.projectId }),
    missing: otherProject,
    a: `${NOBODY} | 200 200 403 403 | 404 404 | 200 200 200 | 403 200 200 404`,
    b: `${NOBODY} | 404 404 404 404 | 200 404 | 404 404 404 | 403 200 404 404`,
  },
  'share.tile.render': {
    a: VISITORS.a.replaceAll('200', '422'),
    input: async (w, org) => ({ ...(await link(w, org)).opens, z: 0, x: 0, y: 0 }),
  },
  'share.tilejson': { a: VISITORS.a.replaceAll('200', '422'), input: async (w, org) => (await link(w, org)).opens },
  'uploads.complete': { ...CHANGES_A_PROJECT, input: uploaded, missing: otherUpload },
  'uploads.fail': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => ({ ...(await upload(w, org)), error_message: 'x' }),
    missing: otherUpload,
  },
  'uploads.initiate': { ...CHANGES_A_PROJECT, input: (_w, org) => ({ project_id: org.projectId, total_bytes: 100 }) },
  'uploads.progress': { ...CHANGES_A_PROJECT, input: upload, missing: otherUpload },
  'uploads.signed_url': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => ({ ...(await upload(w, org)), file_name: 'a.tif' }),
    missing: otherUpload,
  },
  'visualization.profile.create': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => ({ ...(await item(w, org)), name: 'x', type: 'rgb', config: { bands: [1, 2, 3] } }),
    missing: otherItem,
  },
  'visualization.profile.delete': { ...CHANGES_A_PROJECT, input: profile, missing: otherItem },
  'visualization.profile.get': { ...READS_A_PROJECT, input: profile, missing: otherItem },
  'visualization.profile.set_default': { ...CHANGES_A_PROJECT, input: profile, missing: otherItem },
  'visualization.profile.update': { ...CHANGES_A_PROJECT, input: (w, org) => profile(w, org, { name: 'y' }), missing: otherItem },
  'visualization.profiles.list': { ...READS_A_PROJECT, input: item, missing: otherItem },
  'visualization.list_for': { ...ANYBODY, input: () => ({}) },
}

/** Callers for whom organization B is not a stranger. */
const SEES_B: readonly PrincipalName[] = ['foreign', 'service', 'staff']

const statusesOf = (row: string) => row.replaceAll('|', ' ').trim().split(/\s+/).map(Number)

test('every implemented operation has its line here, and every line an operation', () => {
  assert.deepEqual(Object.keys(EXPECTED).toSorted(), [...operations.keys()].toSorted())
  for (const [id, { a, b, missing }] of Object.entries(EXPECTED)) {
    assert.equal(statusesOf(a).length, PRINCIPALS.length, id)
    assert.equal(b === undefined, missing === undefined, `${id}: an operation that takes ids is tried with those of both organizations`)
    if (b) assert.equal(statusesOf(b).length, PRINCIPALS.length, id)
  }
})

test('operations × principals × organizations', async (t) => {
  const w = await world(t, { systemAdminEmails: [STAFF_EMAIL], clipUserEmail: CLIP_EMAIL, payments: { manualNotices: true } })
  const { a, b, credential } = await cast(w)

  const cases = Object.entries(EXPECTED).flatMap(([id, row]) =>
    (['a', 'b'] as const).filter((side) => row[side] !== undefined).map((side) => ({ id, row, side, org: side === 'a' ? a : b })),
  )
  for (const { id, row, side, org } of cases) {
    await t.test(`${id} about ${side === 'a' ? 'their' : 'another'} organization`, async () => {
      const expected = PRINCIPALS.map((name, index) => ({ name, status: statusesOf(row[side]!)[index]! }))
      const refused = expected.filter(({ status }) => status !== 200)
      const input = await row.input(w, org)

      const before = await businessDigest(w.db)
      const answers = await Promise.all(refused.map(({ name }) => w.call(credential(name), id, input)))
      assert.deepEqual(
        answers.map(({ status }, index) => ({ name: refused[index]!.name, status })),
        refused,
      )
      for (const answer of answers) requireProblem(answer)
      if (side === 'b') {
        const absent = await Promise.all(refused.map(({ name }) => w.call(credential(name), id, row.missing!(input))))
        refused.forEach(({ name }, index) => {
          if (!SEES_B.includes(name))
            assert.equal(
              withoutInstance(absent[index]!.bytes),
              withoutInstance(answers[index]!.bytes),
              `${name} can tell what exists elsewhere`,
            )
        })
      }
      assert.equal(await businessDigest(w.db), before, 'a refusal changed something')

      for (const { name } of expected.filter(({ status }) => status === 200)) {
        const { status, bytes } = await w.call(credential(name), id, await row.input(w, org))
        assert.equal(status, 200, `${name}: ${bytes.toString()}`)
        if (side === 'a' && !SEES_B.includes(name))
          for (const secret of [b.id, b.projectId, b.owner.id, b.owner.email])
            assert.ok(!bytes.includes(secret), `${name} was shown something of another organization`)
      }
    })
  }

  await t.test('the resource path answers like the id path', async () => {
    for (const [id, row] of Object.entries(EXPECTED)) {
      const input = await row.input(w, a)
      for (const name of ['none', 'read', 'worker'] as const) {
        const secret = credential(name)
        const authorization: Record<string, string> = secret ? { authorization: `Bearer ${secret}` } : {}
        const { status } = await w.post(`/v1/${id.replaceAll('.', '/')}`, input, authorization)
        assert.equal(status, statusesOf(row.a)[PRINCIPALS.indexOf(name)], `${id} as ${name}`)
      }
    }
  })
})

function requireProblem({ status, body, headers }: Answer): void {
  assert.match(headers.get('content-type')!, /^application\/problem\+json/)
  assert.equal(body.status, status)
  assert.ok(body.type.endsWith(`/problems/${body.code}`))
  if (status === 401) assert.equal(body.detail, 'Invalid authentication credentials')
  assert.equal(headers.has('www-authenticate'), status === 401 || body.code === 'missing-scope')
}

// Goal: a public operation runs for whoever asks, as nobody in particular: a credential neither helps nor hurts.
test('public operations are anonymous for every principal', async (t) => {
  const whoami = operation({
    id: 'test.whoami',
    scope: 'tiles:read',
    tier: 'read',
    public: true,
    input: Closed({}),
    output: Closed({
      kind: Type.String(),
      user: Type.Union([Type.String(), Type.Null()]),
      organization: Type.Union([Type.String(), Type.Null()]),
      scopes: Type.Array(Type.String()),
    }),
    example: { input: {} },
  }).handle({
    execute: async ({ principal: { kind, userId, organizationId, scopes } }) => ({
      kind,
      user: userId,
      organization: organizationId,
      scopes: [...scopes],
    }),
  })
  const w = await world(t, { operations: [whoami], systemAdminEmails: [STAFF_EMAIL], clipUserEmail: CLIP_EMAIL })
  const { credential } = await cast(w)
  for (const name of PRINCIPALS) {
    const { status, body } = await w.call(credential(name), 'test.whoami')
    assert.equal(status, 200, name)
    assert.deepEqual(body, { kind: 'anonymous', user: null, organization: null, scopes: [] }, name)
  }
})

// Goal: operator and privileged scopes are out of reach of every customer flag, and within reach of those who are named.
test('privileged resources', async (t) => {
  const probe = (id: `test.${string}`, scope: 'clip:read' | 'clip:destroy' | 'admin:read') =>
    operation({ id, scope, tier: 'read', input: Closed({}), output: Closed({}), example: { input: {} } }).handle({
      execute: async () => ({}),
    })
  const w = await world(t, {
    operations: [probe('test.clip_read', 'clip:read'), probe('test.clip_destroy', 'clip:destroy'), probe('test.admin_read', 'admin:read')],
    systemAdminEmails: [STAFF_EMAIL],
    clipUserEmail: CLIP_EMAIL,
  })
  const { a, credential } = await cast(w)
  const scoped = await w.key(a.owner.token, ['read', 'write', 'process'])
  await w.ok(credential('staff')!, 'api_keys.set_scopes', { key_id: scoped.id, scopes: ['clip:read'] })
  const all = await w.key(a.owner.token, ['read', 'write', 'process'])
  const reach = async (secret: string) =>
    Promise.all(['test.clip_read', 'test.clip_destroy', 'test.admin_read'].map(async (id) => (await w.call(secret, id)).status))

  assert.deepEqual(await reach(credential('owner')!), [403, 403, 403])
  assert.deepEqual(await reach(all.key), [403, 403, 403])
  assert.deepEqual(await reach(scoped.key), [200, 403, 403])
  assert.deepEqual(await reach(credential('clip')!), [200, 200, 403])
  assert.deepEqual(await reach(credential('staff')!), [200, 200, 200])
  assert.deepEqual(await reach(credential('service')!), [200, 200, 200])
  assert.deepEqual(await reach(credential('worker')!), [403, 403, 403])
})
