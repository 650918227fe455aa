/** Something in every list of the demo, made over HTTP as a customer would. */
import { randomUUID } from 'node:crypto'
import { DEMO_EMAIL, DEMO_PASSWORD } from '../../sandbox/demo/account.ts'
import { call, ok, post } from '../support/client.ts'
import { until } from '../support/service.ts'
import { boxInAddress } from './support/address.ts'

const DELIVERY_MS = 1_200_000
const DAY_MS = 86_400_000

/** Of a few hundred metres around the demo's village. */
const BOX = [2.2985, 48.199, 2.3015, 48.201] as const
const [WEST, SOUTH, EAST, NORTH] = BOX
const AREA = {
  type: 'Polygon',
  coordinates: [
    [
      [WEST, SOUTH],
      [EAST, SOUTH],
      [EAST, NORTH],
      [WEST, NORTH],
      [WEST, SOUTH],
    ],
  ],
}

export interface Furnished {
  project: string
  collection: string
  item: string
  second: string
  order: string
  tasking: string
  job: string
  rule: string
  hook: string
  map: string
  /** The area as the address has it. */
  aoi: string
}

// Answers are read by name, as any client without generated types would.
// oxlint-disable-next-line typescript/no-explicit-any
type Ask = (id: string, input?: object) => Promise<any>

export async function furnish(baseUrl: string): Promise<Furnished> {
  const { body } = await post(baseUrl, '/auth/sign-in', { email: DEMO_EMAIL, password: DEMO_PASSWORD })
  const ask: Ask = (id, input = {}) => ok(baseUrl, body.access_token, id, input)
  const spend: Ask = async (id, input = {}) => {
    const reply = await call(baseUrl, body.access_token, id, input, { 'idempotency-key': randomUUID() })
    if (reply.status !== 200) throw new Error(`${id} answered ${reply.status}: ${reply.text}`)
    return reply.body
  }
  const [{ id: project }] = (await ask('projects.list')).projects
  const { items } = await ask('items.list', { project_id: project, limit: 100 })
  const named = (name: string): string => items.find((item: { name: string }) => item.name === name).id
  const item = named('Lake and fields, June')
  const seasons = (await ask('collections.list', { project_id: project })).find(({ name }: { name: string }) => name === 'Seasons')
  await people(baseUrl, ask, body.organization_id, project)
  const hook = await listeners(ask)
  await ask('reports.generate', { report_type: 'project', project_id: project })
  await ask('alerts.create_rule', {
    name: 'Water over the levee',
    collection_id: seasons.id,
    expression: '(b3-b8)/(b3+b8)',
    comparison: 'gt',
    threshold: 0.4,
    active: false,
  })
  await spend('payment_methods.attach', { payment_method_id: 'pm_card_visa' })
  await spend('billing.topup', { aud_cents: 2_500_000 })
  const {
    job: { id: job },
  } = await spend('processing.execute', {
    process_id: 'band_math',
    workspaceId: project,
    inputs: { item_id: item, expression: '(b8-b4)/(b8+b4)' },
  })
  await spend('clip.create_from_item', { source_item_id: item, project_id: project, aoi_geometry: AREA })
  const [order, tasking] = [await archive(ask, spend, project), await task(spend, project)]
  const { alert_rules } = await ask('alerts.rules.list')
  const rule = alert_rules.find(({ name }: { name: string }) => name === 'Green again').id
  const second = named('Lake and fields, October')
  const { id: map } = await ask('maps.create', {
    project_id: project,
    name: 'Lake, June over October',
    layers: [
      { item_id: item, style: { profile: 'ndvi' }, opacity: 0.8, blend: 'multiply' },
      { item_id: second },
      { collection_id: seasons.id, visible: false },
    ],
    annotations: [{ geometry: { type: 'Point', coordinates: [2.3, 48.2] }, text: 'Gauge' }],
  })
  return {
    project,
    collection: seasons.id,
    item,
    second,
    order,
    tasking,
    job,
    rule,
    hook,
    map,
    aoi: boxInAddress(BOX),
  }
}

/** A colleague with a cap, somebody who is invited, and a request that waits. */
async function people(baseUrl: string, ask: Ask, organizationId: string, project: string): Promise<void> {
  const email = `ines-${Date.now()}@example.com`
  const { body: signedUp } = await post(baseUrl, '/auth/sign-up', { email, password: 'coral and sand 84', name: 'Inês Carvalho' })
  const { invitation } = await ask('projects.add_member', { project_id: project, email, role: 'editor' })
  const as = { authorization: `Bearer ${signedUp.access_token}` }
  await post(baseUrl, '/auth/invitations/accept', { token: invitation.url.split('/').at(-1) }, as)
  await ask('projects.add_member', { project_id: project, email: 'tomasz.kowalczyk@example.com', role: 'viewer' })
  await ask('organizations.members.set_spend_limit', {
    organizationId,
    userId: signedUp.user.id,
    perOrderLimitCredits: 20_000,
    spendLimitCredits: 80_000,
  })
  const { body: acting } = await post(baseUrl, '/auth/refresh', { refresh_token: signedUp.refresh_token, organization_id: organizationId })
  await ok(baseUrl, acting.access_token, 'billing.approvals.request', { credits: 48_000, reason: 'Flood response on the lower Loire' })
}

async function listeners(ask: Ask): Promise<string> {
  await ask('api_keys.create', { name: 'Nightly export', permissions: ['read'] })
  await ask('api_keys.create', { name: 'QGIS of the field team', permissions: ['read', 'write'] })
  const { id } = await ask('event_subscriptions.create', {
    event_type: 'collection.created',
    endpoint_url: 'http://127.0.0.1:9/hooks/imagery',
    description: 'The gateway of the data team',
  })
  const { projects } = await ask('projects.list')
  const collection = await ask('collections.create', { project_id: projects[0].id, name: 'Loire plain, radar' })
  await ask('collections.update', { project_id: projects[0].id, collection_id: collection.id, description: 'Waits for its first scene' })
  return id
}

/** One order that was delivered and one that is under way. */
async function archive(ask: Ask, spend: Ask, project: string): Promise<string> {
  const days = `${new Date(Date.now() - 60 * DAY_MS).toISOString()}/${new Date().toISOString()}`
  const search = await ask('catalog.search', { host_name: 'sandbox-hr', bbox: BOX, datetime: days })
  const capture = (index: number) => ({ id: search.features[index].id, geometry: AREA, host: 'sandbox-hr' })
  const { id } = await spend('orders.archive.place', { projectId: project, displayName: 'Village, newest', captures: [capture(0)] })
  await until('the delivery', async () => (await ask('orders.get', { id })).status === 'fulfilled', DELIVERY_MS)
  await spend('orders.archive.place', { projectId: project, displayName: 'Village, a month ago', captures: [capture(1), capture(2)] })
  return id
}

/** One that waits for a decision. */
async function task(spend: Ask, project: string): Promise<string> {
  const day = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()
  const { id } = await spend('orders.tasking.place', {
    projectId: project,
    displayName: 'Harbour, weekly',
    groups: [
      {
        dataProduct: 'sandbox-vhr-quoted',
        featureCollection: { type: 'FeatureCollection', features: [{ type: 'Feature', properties: {}, geometry: AREA }] },
        params: { acquisitionStart: day(2), acquisitionEnd: day(20) },
      },
    ],
  })
  await until('the quotation', async () => (await spend('orders.get', { id })).subStatus === 'quotation_ready', DELIVERY_MS).catch(
    () => null,
  )
  return id
}
