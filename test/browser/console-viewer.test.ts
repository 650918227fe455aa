// Goal: what somebody may not do is not offered.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, HANDS, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, sceneItem, seat, signIn, type Seat } from './console.ts'

for (const hands of HANDS)
  test(`the console: a viewer, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { startAt: new Date().toISOString() })
    await viewer(w, await w.organization(), await browser(t, hands))
  })

// Goal (J13): a viewer sees what there is, and no button that may not be pressed.
async function viewer(w: World, org: Org, chromium: Browser): Promise<void> {
  const id = await sceneItem(w, org, 'Loire valley, June')
  const { alert_rule } = await w.ok(org.owner.token, 'alerts.create_rule', {
    name: 'Green again',
    expression: '(b8-b4)/(b8+b4)',
    comparison: 'gt',
    threshold: -0.9,
  })
  await w.ok(org.owner.token, 'items.update', { item_id: id, name: 'Loire valley in June' })
  const who = await w.member(org, 'viewer')
  const here = await seat(w, chromium)
  const { page } = here
  const none = async (...names: string[]) => {
    for (const name of names) {
      assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name)
      assert.equal(await page.getByRole('link', { name, exact: true }).count(), 0, name)
    }
  }
  await journey('viewer', here, async () => {
    await signIn(here, who)
    await page.goto(`${w.baseUrl}/app/view/${id}`)
    await page.getByRole('button', { name: 'Copy tile URL' }).waitFor()
    await none('Save as profile', 'Share')
    await page.goto(`${w.baseUrl}/app/view/${id}?tab=metadata`)
    await page.getByRole('tab', { name: 'Metadata', selected: true }).waitFor()
    await none('Delete item', 'Save changes')
    await addresses(w, id, here)
    await page.goto(`${w.baseUrl}/app/library`)
    await page.getByText('Loire valley in June').first().waitFor()
    await none('Upload files', 'Create collection')
    await page.goto(`${w.baseUrl}/app/uploads`)
    await page.getByText('View-only access').waitFor()
    await page.goto(`${w.baseUrl}/app/billing`)
    await page.getByText('Billing is for owners and admins').waitFor()
    await page.goto(`${w.baseUrl}/app/alerts`)
    await page.getByRole('link', { name: 'Green again' }).waitFor()
    await none('New alert')
    assert.equal(await page.getByRole('switch').count(), 0)
    await page.goto(`${w.baseUrl}/app/alerts/${alert_rule.id}`)
    await page.getByRole('heading', { name: 'Green again' }).waitFor()
    await none('Change', 'Delete', 'Acknowledge')
    await page.goto(`${w.baseUrl}/app/alerts/new`)
    await page.getByText('View-only access').waitFor()
    await page.goto(`${w.baseUrl}/app/develop/webhooks`)
    await page.getByText('No endpoints yet').waitFor()
    await none('Add endpoint', 'Send test')
  })
  assertOwnBusiness(w, here)
}

// Goal: addresses for other programs are a few keys away, have an address themselves, and say nothing until a key is given.
async function addresses(w: World, id: string, { page }: Seat): Promise<void> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: w.baseUrl })
  await page.getByRole('button', { name: 'Use in…' }).press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'QGIS', pressed: true }).waitFor()
  assert.match(page.url(), /use=qgis/)
  await page.goto(`${w.baseUrl}/app/view/${id}?use=leaflet`)
  await dialog.getByRole('button', { name: 'Leaflet', pressed: true }).waitFor()
  const tiles = `${w.baseUrl}/api/v1/items/${id}/tiles/{z}/{x}/{y}{r}.webp`
  await dialog.getByText(`${tiles}?key=YOUR_KEY`, { exact: true }).waitFor()
  await assertAccessible(page, 'addresses for other programs')
  await shot(page, 'use-in')
  await page.setViewportSize({ width: 390, height: 844 })
  await assertAccessible(page, 'addresses for other programs on a phone')
  await shot(page, 'use-in-phone')
  await page.setViewportSize({ width: 1440, height: 900 })
  await dialog.getByLabel('API key', { exact: true }).fill('svc_mine')
  await dialog.getByRole('button', { name: 'Copy Tiles for Leaflet' }).press('Enter')
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), `${tiles}?key=svc_mine`)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  assert.doesNotMatch(page.url(), /use=/)
}
