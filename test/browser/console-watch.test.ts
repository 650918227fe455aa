// Goal: what is watched for is told at once, to the person who looks and to the program that listens.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '#console.ts'
import { verifyWebhook } from '../../packages/client/src/webhooks.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, shot, WITHOUT_BROWSER } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, sceneItem, seat, signIn } from './console.ts'

test('the console: watch', { skip: WITHOUT_BROWSER }, async (t) => {
  await createConsoleBuild().run(new AbortController().signal)
  const endpoint = await receiver(t)
  const w = await world(t, { egressAllow: [endpoint.host], startAt: new Date().toISOString() })
  const chromium = await browser(t)
  await t.test('an alert fires live', async () => alertFires(w, await w.organization(), chromium))
  await t.test('a webhook fails and is replayed', async () => webhook(w, await w.organization(), chromium, endpoint))
})

/** Each moves the line by a tenth of what is shown. */
const MAX_PRESSES = 60

interface Letter {
  body: string
  signature: string | undefined
}

/** An endpoint of the organization's own that answers as it is told to. */
type Receiver = Awaited<ReturnType<typeof receiver>>

async function receiver(t: TestContext) {
  const letters: Letter[] = []
  let status = 200
  const server = createServer((request: IncomingMessage, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      letters.push({ body: Buffer.concat(parts).toString(), signature: request.headers['x-svc-signature'] as string | undefined })
      response.writeHead(status).end(status === 200 ? 'taken' : 'out of order')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    host,
    url: `http://${host}/hooks/imagery`,
    letters,
    answer(next: number) {
      status = next
    },
  }
}

// Goal (J9): a rule is written as a sentence and tested on what is there; a new item fires it; the person who looks sees it without
// a reload, and acknowledges it by keyboard.
async function alertFires(w: World, org: Org, chromium: Browser): Promise<void> {
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
    await page.getByText('Nothing is watched yet').waitFor()
    await assertAccessible(page, 'alerts, empty')
    await page.getByRole('link', { name: 'New alert' }).click()
    await page.getByLabel('Collection').selectOption({ label: 'Loire plain' })
    await page.getByRole('button', { name: 'NDVI', exact: true }).click()
    await page.getByLabel('Name', { exact: true }).fill('Green again')
    await page.getByLabel('Threshold', { exact: true }).and(page.locator('input')).fill('-0.9')
    await page.getByText('3 of 3').waitFor()
    await page.getByRole('heading', { name: 'Where it would have fired' }).waitFor()
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
    await page.getByText('It has not fired yet').waitFor()
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
    await page.locator('.news li').first().focus()
    await page.keyboard.press('e')
    await page.getByRole('button', { name: 'Inbox', exact: true }).waitFor()
    assert.equal((await w.ok(org.owner.token, 'notifications.unread_count')).count, 0)

    await page.getByRole('navigation', { name: 'Monitor' }).getByRole('link', { name: 'Alerts' }).click()
    const row = page.locator('.news li').filter({ hasText: 'Loire, 2 July' })
    await row.focus()
    await page.keyboard.press('e')
    await page.getByText('Nothing waits for you').waitFor()
    const { alert_events } = await w.ok(org.owner.token, 'alerts.events.list', {})
    assert.deepEqual(
      alert_events.map(({ acknowledged }: { acknowledged: boolean }) => acknowledged),
      [true],
    )
  })
  assertOwnBusiness(w, here)
}

// Goal (J10): an endpoint is added and its secret shown once; when it fails, the next attempt is named; a replay brings the same
// event, and it is taken.
async function webhook(w: World, org: Org, chromium: Browser, endpoint: Receiver): Promise<void> {
  const here = await seat(w, chromium)
  const { page } = here
  await journey('webhook', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/develop/webhooks`)
    await page.getByText('No endpoint yet').waitFor()
    await page.getByRole('button', { name: 'Add endpoint' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Add endpoint' })
    await dialog.getByLabel('Address').fill('http://10.0.0.1/inside')
    await dialog.getByRole('button', { name: 'Add endpoint' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('Address').fill(endpoint.url)
    await dialog.getByLabel('Event').selectOption('collection.created')
    await dialog.getByRole('button', { name: 'Add a condition' }).click()
    await dialog.getByLabel('Only where: Field 1').fill('data.name')
    await dialog.getByLabel('Only where: Value 1').fill('Reef')
    await dialog.getByRole('button', { name: 'Add a header' }).click()
    await dialog.getByLabel('Headers: Name 1').fill('X-Gateway')
    await dialog.getByLabel('Headers: Value 1').fill('open sesame')
    await assertAccessible(page, 'endpoint dialog')
    await dialog.getByRole('button', { name: 'Add endpoint' }).click()
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    const secret = (await page.getByLabel('The signing secret').textContent())!
    await page.getByRole('button', { name: 'Send test' }).click()
    await page.getByText('The test was taken: 200').waitFor()
    const { body, signature } = endpoint.letters.at(-1)!
    assert.equal((await verifyWebhook(body, signature, secret)).event_type, 'collection.created')
    await page.reload()
    await page.getByText('Nothing was sent yet').waitFor()
    assert.equal(await page.getByLabel('The signing secret').count(), 0)

    endpoint.answer(503)
    await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Sand' })
    await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Reef' })
    await w.deliver()
    const row = page.getByRole('row').filter({ hasText: 'collection.created' })
    await row.getByText('503').waitFor()
    assert.equal(await row.count(), 1, 'what the condition leaves out is not sent')
    await row.getByRole('button').click()
    const detail = page.getByRole('region', { name: 'Delivery' })
    await detail.getByText('503 from the receiver').waitFor()
    await detail.getByText('planned').waitFor()
    await detail.getByText('out of order').waitFor()
    await assertAccessible(page, 'webhooks')
    await shot(page, 'webhooks')
    await page.reload()
    await detail.getByText('503 from the receiver').waitFor()

    endpoint.answer(200)
    const first = JSON.parse(endpoint.letters.at(-1)!.body).event_id as string
    await detail.getByRole('button', { name: 'Replay' }).click()
    await page.getByText('It is sent again').waitFor()
    await w.deliver()
    await detail.getByText('Taken by the receiver').waitFor()
    assert.equal(JSON.parse(endpoint.letters.at(-1)!.body).event_id, first)

    await page.getByRole('button', { name: 'More about this endpoint' }).click()
    await page.getByRole('menuitem', { name: 'New secret' }).click()
    await page.getByLabel('The signing secret').waitFor()
    await page.getByRole('button', { name: 'More about this endpoint' }).click()
    await page.getByRole('menuitem', { name: 'Pause' }).click()
    await page.locator('.hooks-head').getByText('paused').waitFor()
    const { event_subscriptions } = await w.ok(org.owner.token, 'event_subscriptions.list', { active: false })
    assert.deepEqual(
      event_subscriptions.map(({ endpoint_url }: { endpoint_url: string }) => endpoint_url),
      [endpoint.url],
    )
    await page.keyboard.press('Shift+A')
    const drawer = page.getByLabel('API calls of this screen')
    await drawer.getByText('event_subscriptions.update').first().waitFor()
    assert.doesNotMatch((await drawer.textContent())!, /whsec_|open sesame/, 'no secret is among the calls')
  })
  assertOwnBusiness(w, here)
}
