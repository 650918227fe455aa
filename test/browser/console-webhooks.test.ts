// Goal: what happens is told to the program that listens, and a person sees what became of it.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { verifyWebhook } from '../../packages/client/src/webhooks.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, HANDS, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, seat, signIn } from './console.ts'

for (const hands of HANDS)
  test(`the console: a webhook fails and is replayed, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const endpoint = await receiver(t)
    const w = await world(t, { egressAllow: [endpoint.host], startAt: new Date().toISOString() })
    await webhook(w, await w.organization(), await browser(t, hands), endpoint)
  })

interface SignedRequest {
  body: string
  signature: string | undefined
}

/** An endpoint of the organization's own that answers as it is told to. */
type Receiver = Awaited<ReturnType<typeof receiver>>

async function receiver(t: TestContext) {
  const requests: SignedRequest[] = []
  let status = 200
  const server = createServer((request: IncomingMessage, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      requests.push({ body: Buffer.concat(parts).toString(), signature: request.headers['x-svc-signature'] as string | undefined })
      response.writeHead(status).end(status === 200 ? 'taken' : 'out of order')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    host,
    url: `http://${host}/hooks/imagery`,
    requests,
    answer(next: number) {
      status = next
    },
  }
}

// Goal (J10): an endpoint is added and its secret shown once; when it fails, the next attempt is named; a replay brings the same
// event, and it is taken.
async function webhook(w: World, org: Org, chromium: Browser, endpoint: Receiver): Promise<void> {
  const here = await seat(w, chromium)
  const { page } = here
  await journey('webhook', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/develop/webhooks`)
    await page.getByText('No endpoints yet').waitFor()
    await page.getByRole('button', { name: 'Add endpoint' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Add endpoint' })
    await dialog.getByLabel('URL').fill('http://10.0.0.1/inside')
    await dialog.getByRole('button', { name: 'Add endpoint' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('URL').fill(endpoint.url)
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
    const secret = (await page.getByLabel('Signing secret').textContent())!
    await page.getByRole('button', { name: 'Send test' }).click()
    await page.getByText('Test delivered: 200').waitFor()
    const { body, signature } = endpoint.requests.at(-1)!
    assert.equal((await verifyWebhook(body, signature, secret)).event_type, 'collection.created')
    await page.reload()
    await page.getByText('No deliveries yet').waitFor()
    assert.equal(await page.getByLabel('Signing secret').count(), 0)

    endpoint.answer(503)
    await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Sand' })
    await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Reef' })
    await w.deliver()
    const row = page.getByRole('row').filter({ hasText: 'collection.created' })
    await row.getByText('503').waitFor()
    assert.equal(await row.count(), 1, 'what the condition leaves out is not sent')
    await row.getByRole('button').click()
    const detail = page.getByRole('region', { name: 'Delivery' })
    await detail.getByText('503 from the endpoint').waitFor()
    await detail.getByText('scheduled').waitFor()
    await detail.getByText('out of order').waitFor()
    await assertAccessible(page, 'webhooks')
    await shot(page, 'webhooks')
    await page.reload()
    await detail.getByText('503 from the endpoint').waitFor()

    endpoint.answer(200)
    const first = JSON.parse(endpoint.requests.at(-1)!.body).event_id as string
    await detail.getByRole('button', { name: 'Replay' }).click()
    await page.getByText('Replay sent').waitFor()
    await w.deliver()
    await detail.getByText('Delivered', { exact: true }).waitFor()
    assert.equal(JSON.parse(endpoint.requests.at(-1)!.body).event_id, first)

    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Rotate secret' }).click()
    await page.getByLabel('Signing secret').waitFor()
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Pause' }).click()
    await page.locator('.webhooks-header').getByText('paused').waitFor()
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
