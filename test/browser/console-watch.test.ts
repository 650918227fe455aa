// Goal: what is watched for is told at once to the person who looks.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { receiver } from '../support/receiver.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, HANDS, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, sceneItem, seat, signIn } from './console.ts'

for (const hands of HANDS)
  test(`the console: an alert fires live, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const endpoint = await receiver(t)
    const w = await world(t, { startAt: new Date().toISOString(), egressAllow: [endpoint.host] })
    await alertFires(w, await w.organization(), await browser(t, hands), endpoint)
  })

/** Each moves the line by a tenth of what is shown. */
const MAX_PRESSES = 60

// Goal (J9): a rule is written as a sentence and tested on what is there; a new item fires it; the person who looks sees it without
// a reload, a program is told as well and the log says so, and it is acknowledged by keyboard.
async function alertFires(w: World, org: Org, chromium: Browser, endpoint: Awaited<ReturnType<typeof receiver>>): Promise<void> {
  await w.ok(org.owner.token, 'event_subscriptions.create', { event_type: 'alert.triggered', endpoint_url: endpoint.url })
  const { id: collection_id } = await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Loire plain' })
  for (const day of ['02', '12', '22'])
    await sceneItem(w, org, `Loire, ${day} June`, { datetime: `2025-06-${day}T10:40:00Z`, collection_id })
  const here = await seat(w, chromium)
  const { page } = here
  await journey('alert', here, async () => {
    await signIn(here, org.owner)
    const streaming = page.waitForResponse((response) => response.url().endsWith('/v1/events'))
    await page.goto(`${w.baseUrl}/app/alerts`)
    await streaming
    await page.getByText('No alert rules yet').waitFor()
    await assertAccessible(page, 'alerts, empty')
    await page.getByRole('link', { name: 'New alert' }).click()
    await page.getByLabel('Collection').selectOption({ label: 'Loire plain' })
    await page.getByRole('button', { name: 'NDVI', exact: true }).click()
    await page.getByLabel('Name', { exact: true }).fill('Green again')
    await page.getByLabel('Threshold', { exact: true }).and(page.locator('input')).fill('-0.9')
    await page.getByText('3 of 3').waitFor()
    await page.getByRole('heading', { name: 'Where it would have triggered' }).waitFor()
    await assertAccessible(page, 'alert builder')
    await shot(page, 'alert-builder')

    // The draft is in the address, and the line moves by keys.
    await page.waitForURL(/at=-0.9/)
    await page.reload()
    await page.getByText('3 of 3').waitFor()
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Green again')
    await page.getByRole('slider', { name: 'Threshold' }).focus()
    for (let press = 0; press < MAX_PRESSES && !(await page.getByText('0 of 3').isVisible()); press++) await page.keyboard.press('PageUp')
    await page.getByText('0 of 3').waitFor()
    await page.getByLabel('Threshold', { exact: true }).and(page.locator('input')).fill('-0.9')
    await page.getByRole('button', { name: 'Switch on' }).click()
    await page.getByText('Not triggered yet').waitFor()
    const { alert_rules } = await w.ok(org.owner.token, 'alerts.rules.list', {})
    assert.deepEqual(
      alert_rules.map(({ name, comparison, threshold, active }: Record<string, unknown>) => [name, comparison, threshold, active]),
      [['Green again', 'gt', -0.9, true]],
    )

    await sceneItem(w, org, 'Loire, 2 July', { datetime: '2025-07-02T10:40:00Z', collection_id })
    await w.evaluateAlerts()
    await page.getByRole('status').getByText('Green again:').waitFor()
    await page.getByRole('button', { name: 'Inbox, 1 unread' }).waitFor()
    await page.getByRole('link', { name: 'Loire, 2 July' }).first().waitFor()
    await shot(page, 'alert-fired')
    await assertAccessible(page, 'alert')

    await page.getByRole('button', { name: 'Inbox, 1 unread' }).click()
    await page.getByRole('dialog', { name: 'Inbox' }).getByText('Alert: Green again').waitFor()
    await shot(page, 'bell')
    await page.getByRole('dialog', { name: 'Inbox' }).getByRole('link', { name: 'Open' }).click()
    await page.getByRole('heading', { name: 'Inbox' }).waitFor()
    await assertAccessible(page, 'inbox')
    await page.locator('main li[data-id]').first().focus()
    await page.keyboard.press('e')
    await page.getByRole('button', { name: 'Inbox', exact: true }).waitFor()
    assert.equal((await w.ok(org.owner.token, 'notifications.unread_count')).count, 0)

    await page.getByRole('navigation', { name: 'Monitor' }).getByRole('link', { name: 'Alerts' }).click()
    const row = page.locator('main li[data-id]').filter({ hasText: 'Loire, 2 July' })
    await row.focus()
    await page.keyboard.press('e')
    await page.getByText('No open alerts').waitFor()
    const { alert_events } = await w.ok(org.owner.token, 'alerts.events.list', {})
    assert.deepEqual(
      alert_events.map(({ acknowledged }: { acknowledged: boolean }) => acknowledged),
      [true],
    )

    await w.deliver()
    await page.goto(`${w.baseUrl}/app/develop/webhooks`)
    await page.getByRole('link', { name: /\/hook/ }).click()
    const delivery = page.getByRole('row').filter({ hasText: 'alert.triggered' })
    await delivery.getByText('204').waitFor()
    assert.deepEqual(
      endpoint.received.map(({ body }) => [body.event_type, body.data.rule_name]),
      [['alert.triggered', 'Green again']],
    )
  })
  assertOwnBusiness(w, here)
}
