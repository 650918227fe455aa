// Goal (J16): whatever people wrote is shown as they wrote it, on every screen: nothing of it runs, the policy is never broken, nobody
// but the service is asked, and of the service only what everybody may call.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { HOOK_URL, world, type Org, type Person, type World } from '../support/world.ts'
import { browser, shot, WITHOUT_TIME } from './chromium.ts'
import { assertOwnBusiness, journey, LONG_MS, sceneItem, seat, signIn } from './console.ts'
import { PAYLOADS } from './payloads.ts'

const ALL = PAYLOADS.join(' ')
/** For the path of an address, where a dot would mean a file. */
const IN_PATH = encodeURIComponent('"><img src=x onerror=alert(1)>')
const [IMAGE, SCRIPT, SVG] = PAYLOADS as unknown as [string, string, string]

test('the console: hostile strings', { skip: WITHOUT_TIME, timeout: LONG_MS }, async (t) => {
  await createConsoleBuild().run(new AbortController().signal)
  const w = await world(t, { startAt: new Date().toISOString() })
  const org = await w.organization(`${IMAGE} ${SVG}`)
  const hostile = await hostileOrganization(w, org)
  const here = await seat(w, await browser(t))
  const { page } = here
  const unmarked = async (where: string) => {
    assert.equal(await page.evaluate('window.marked'), undefined, where)
    assert.notEqual(await page.evaluate('getComputedStyle(document.body).display'), 'none', where)
  }
  await journey('hostile', here, async () => {
    await signIn(here, org.owner)
    for (const address of screensOf(org, hostile)) {
      await goFrom(page, address).catch((error: Error) => assert.fail(`${address}: ${error.message}`))
      await unmarked(address)
    }
    await page.goto(`${w.baseUrl}/app/library/${org.projectId}?view=table`)
    await page.getByText(SCRIPT, { exact: true }).first().waitFor()
    await shot(page, 'hostile-library')
    await page.keyboard.press('Control+k')
    await page.getByLabel('Search places, items and commands').fill('script')
    await page.getByRole('option', { name: SCRIPT }).first().waitFor()
    await unmarked('palette')
    await page.keyboard.press('Escape')

    // What comes by itself is no better than what is asked for.
    const streaming = page.waitForResponse((response) => response.url().endsWith('/v1/events'))
    await page.goto(`${w.baseUrl}/app/alerts`)
    await streaming
    await sceneItem(w, org, SVG, { collection_id: hostile.collectionId })
    await w.evaluateAlerts()
    await page.getByRole('status').getByText(IMAGE).first().waitFor()
    await page.getByRole('button', { name: /^Inbox, \d+ unread/ }).click()
    await page.getByRole('dialog', { name: 'Inbox' }).getByText(`Alert: ${IMAGE}`).first().waitFor()
    await shot(page, 'hostile-alerts')
    await unmarked('live')
  })
  assertOwnBusiness(w, here)
})

/** To a screen by its address, as a link would: by way of another one, so that what is seen then is new. */
async function goFrom(page: Page, address: string): Promise<void> {
  const push = (to: string) =>
    page.evaluate(`history.pushState({}, '', ${JSON.stringify(`/app${to}`)}); dispatchEvent(new PopStateEvent('popstate'))`)
  await push('/team/organization')
  await page.locator('main h1', { hasText: 'Organization' }).waitFor()
  await page.evaluate(`document.querySelector('main > *').setAttribute('data-between', '')`)
  await push(address)
  // What has no screen says so, outside the frame.
  await page
    .locator('main:not(:has([aria-label="Loading"])):not(:has([data-between])) > *, #root:not(:has(main)) > *')
    .first()
    .waitFor({ state: 'attached' })
}

interface Made {
  collectionId: string
  itemId: string
  ruleId: string
  hookId: string
}

async function hostileOrganization(w: World, org: Org): Promise<Made> {
  const { token } = org.owner
  await w.ok(token, 'projects.update', { project_id: org.projectId, name: `Project ${SVG}`, description: ALL })
  const { id: collectionId } = await w.ok(token, 'collections.create', { project_id: org.projectId, name: IMAGE, description: ALL })
  const properties = Object.fromEntries(PAYLOADS.map((text, index) => [`${text.slice(0, 40)} ${index}`, text]))
  const itemId = await sceneItem(w, org, SCRIPT, { collection_id: collectionId, description: ALL, properties })
  for (const name of PAYLOADS)
    await w.ok(token, 'items.create', {
      project_id: org.projectId,
      collection_id: collectionId,
      type: 'user_raster',
      name,
      description: name,
      bbox: [2.2, 48.1, 2.4, 48.3],
      assets: [{ key: name, href: 'https://data.example/a.tif', title: name, media_type: 'text/html' }],
    })
  await w.ok(token, 'visualization.profile.create', { item_id: itemId, name: IMAGE, type: 'rgb', config: { bands: [4, 3, 2] } })
  const { alert_rule } = await w.ok(token, 'alerts.create_rule', {
    name: IMAGE,
    description: ALL,
    collection_id: collectionId,
    expression: 'b4',
    comparison: 'gt',
    threshold: -1,
    notification_channels: ['in_app'],
    cooldown_minutes: 0,
  })
  const { id: hookId } = await w.ok(token, 'event_subscriptions.create', {
    event_type: 'item.created',
    endpoint_url: `${HOOK_URL}${encodeURIComponent(SCRIPT)}`,
    description: ALL,
    filter_config: { 'data.name': SVG },
  })
  await w.ok(token, 'band_formulas.create', { name: IMAGE, formula: '(NIR - RED) / (NIR + RED)', display_name: SVG, description: ALL })
  await w.ok(token, 'api_keys.create', { name: IMAGE, permissions: ['read'] })
  await w.ok(token, 'share.link.create', {
    target_type: 'item',
    target_id: itemId,
    password: 'coral and sand',
    expires_at: '2031-01-01T00:00:00Z',
  })
  await colleague(w, org)
  return { collectionId, itemId, ruleId: alert_rule.id, hookId }
}

/** Somebody whose name is one of them. */
async function colleague(w: World, org: Org): Promise<void> {
  const [email, password] = [`hostile-${process.pid}@example.com`, 'correct horse battery']
  const { body } = await w.post('/auth/sign-up', { email, password, name: IMAGE })
  const who: Person = { id: body.user.id, email, password, token: body.access_token, refreshToken: body.refresh_token }
  await w.join(who, org, 'editor')
}

const screensOf = ({ projectId }: Org, { collectionId, itemId, ruleId, hookId }: Made): string[] => [
  '/welcome',
  '/explore',
  '/explore?scope=mine',
  `/explore?q=${encodeURIComponent(ALL)}&aoi=${encodeURIComponent(SCRIPT)}&map=${encodeURIComponent(SVG)}`,
  ...['grid', 'table', 'map'].map((view) => `/library/${projectId}/${collectionId}?view=${view}`),
  `/library/${IN_PATH}`,
  ...['style', 'pixel', 'statistics', 'metadata'].map((tab) => `/view/${itemId}?tab=${tab}`),
  `/view/${itemId}?expr=${encodeURIComponent('(b8-b4)/(b8+b4)')}`,
  `/view/${itemId}?expr=${encodeURIComponent(SVG)}&zones=${encodeURIComponent(SCRIPT)}`,
  `/view/${IN_PATH}`,
  `/compare?a=${itemId}&b=${encodeURIComponent(SCRIPT)}`,
  '/uploads',
  '/shares',
  '/orders',
  '/orders/review',
  `/orders/${IN_PATH}`,
  '/tasking',
  '/tasking/new',
  '/jobs',
  `/jobs/${IN_PATH}`,
  `/processes/band_math?in=${encodeURIComponent(JSON.stringify({ item_id: itemId, expression: SVG }))}`,
  `/processes/${IN_PATH}`,
  '/clips',
  '/mosaics',
  '/lineage',
  `/lineage/item/${itemId}`,
  `/lineage/${IN_PATH}/${IN_PATH}`,
  '/develop/keys',
  '/develop/requests',
  '/develop/webhooks',
  `/develop/webhooks/${hookId}`,
  '/develop/webhooks?new=' + encodeURIComponent(IMAGE),
  '/billing',
  '/billing/ledger',
  '/billing/usage',
  '/billing/cards',
  '/billing/approvals',
  '/billing/invoices',
  `/billing/invoices/${IN_PATH}`,
  '/billing/plan',
  `/billing/commitments?month=${encodeURIComponent(SVG)}`,
  '/team',
  '/team/projects',
  `/team/projects?project=${projectId}`,
  '/team/licences',
  '/team/vendors',
  `/team/audit?operation=${encodeURIComponent(SVG)}`,
  '/alerts',
  `/alerts/new?name=${encodeURIComponent(ALL)}&expr=${encodeURIComponent(SVG)}&collection=${collectionId}`,
  `/alerts/${ruleId}`,
  `/alerts/${ruleId}/edit`,
  '/inbox',
  `/reports?about=item&project=${projectId}&item=${itemId}&period=${encodeURIComponent(SVG)}`,
]
