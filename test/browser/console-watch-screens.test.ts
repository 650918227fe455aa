// Goal: the screens that watch and measure open by their addresses, in both themes, wide and on a phone, without a serious fault of
// accessibility and without anything that sticks out sideways.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConsoleBuild } from '#start/console-build.ts'
import { HOOK_URL, world, type Org, type World } from '../support/world.ts'
import { browser, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, LONG_MS, PHONE, sceneItem, seat, settled, signIn } from './console.ts'
import { boxInAddress } from './support/address.ts'

const MODES = [
  ['desktop-light', { colorScheme: 'light' }],
  ['phone-dark', { colorScheme: 'dark', ...PHONE }],
  // The other two are for people who look at pictures.
  ...(process.env['SCREENSHOTS']
    ? ([
        ['desktop-dark', { colorScheme: 'dark' }],
        ['phone-light', { colorScheme: 'light', ...PHONE }],
      ] as const)
    : []),
] as const

for (const [mode, options] of MODES)
  test(`the console: screens that watch and measure, ${mode}`, { skip: WITHOUT_TIME, timeout: LONG_MS }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { startAt: new Date().toISOString() })
    const org = await w.organization('Coast survey')
    const screens = await watchedOrganization(w, org)
    const here = await seat(w, await browser(t), options)
    const { page } = here
    await journey(mode, here, async () => {
      await signIn(here, org.owner)
      for (const [name, address, text] of screens) {
        await page.goto(`${w.baseUrl}/app${address}`)
        await settled(page)
        await page.locator('main h1').first().waitFor({ state: 'attached' })
        await page.locator(text).first().waitFor({ state: 'attached' })
        await assertAccessible(page, `${name}, ${mode}`)
        const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
        assert.ok(wide <= 0, `${name}, ${mode}: ${wide} px wider than the screen`)
        await shot(page, `${name}-${mode}`)
      }
    })
    assertOwnBusiness(w, here)
  })

/** Name, address, and what is there once it has settled. */
type Screen = readonly [name: string, address: string, there: string]

async function watchedOrganization(w: World, org: Org): Promise<Screen[]> {
  const { token } = org.owner
  await w.ok(token, 'projects.update', { project_id: org.projectId, name: 'Wetland survey' })
  const { id: collection_id } = await w.ok(token, 'collections.create', { project_id: org.projectId, name: 'Loire plain' })
  const hook = await w.ok(token, 'event_subscriptions.create', { event_type: 'item.created', endpoint_url: `${HOOK_URL}hooks/imagery` })
  await w.ok(token, 'event_subscriptions.create', { event_type: 'alert.triggered', endpoint_url: `${HOOK_URL}alerts` })
  const terms = {
    collection_id,
    expression: '(NIR - RED) / (NIR + RED)',
    band_mapping: { NIR: 8, RED: 4 },
    notification_channels: ['in_app'],
  }
  const rule = async (more: object) => (await w.ok(token, 'alerts.create_rule', { ...terms, ...more })).alert_rule.id as string
  const id = await rule({
    name: 'Vegetation loss',
    comparison: 'lt',
    threshold: 0.47,
    cooldown_minutes: 0,
    description: 'The dyke may leak.',
  })
  await rule({ name: 'Water over the levee', comparison: 'gt', threshold: 0.9, active: false })
  let item = ''
  for (const [index, day] of ['03-02', '03-29', '04-20', '05-12', '06-08', '07-04'].entries())
    item = await sceneItem(w, org, `Loire plain, scene ${index + 1}`, { datetime: `2025-${day}T10:40:00Z`, collection_id })
  await w.evaluateAlerts()
  await w.deliver()
  const { deliveries } = await w.ok(token, 'event_subscriptions.deliveries.list', { subscription_id: hook.id })
  const shown = encodeURIComponent('(b8-b4)/(b8+b4)')
  // Two fields near the middle of the scene, as the address has them.
  const { item: stored } = await w.ok(token, 'items.get', { item_id: item })
  const zones = encodeURIComponent(zonesIn(stored.bbox))
  return [
    ['alerts', '/alerts', '.alerts-rules'],
    ['alert', `/alerts/${id}`, '.alerts-trial rect[rx]'],
    ['alert-new', `/alerts/new?collection=${collection_id}&name=Green%20again&at=0.47`, '.alerts-trial rect[rx]'],
    ['inbox', '/inbox', '.news-list-news, .states-empty'],
    ['webhooks', `/develop/webhooks/${hook.id}?delivery=${deliveries[0].id}`, '.webhooks-detail'],
    ['webhooks-list', '/develop/webhooks', '.webhooks-endpoint'],
    ['view-stretch', `/view/${item}?expr=${shown}`, '.stretch rect[fill="var(--c1)"]'],
    ['view-statistics', `/view/${item}?expr=${shown}&tab=statistics&zones=${zones}&series=1`, '.values-panel canvas'],
    ['reports', '/reports', '.ui-twoToOne'],
    ['audit', '/team/audit', 'table, .states-empty'],
  ]
}

/** Two small squares of a scene: the form that areas have in an address. */
function zonesIn([west, south, east, north]: [number, number, number, number]): string {
  const square = (x: number, y: number) =>
    boxInAddress([
      west + (east - west) * x,
      south + (north - south) * y,
      west + (east - west) * (x + 0.2),
      south + (north - south) * (y + 0.2),
    ])
  return `${square(0.3, 0.4)};${square(0.55, 0.5)}`
}
