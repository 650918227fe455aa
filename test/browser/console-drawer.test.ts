// Goal (J17): on every screen the call that is shown, run as it is by somebody with curl, answers what the screen was answered.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { Page, Response } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { grant } from '../orders/support.ts'
import { campaign, someOf } from '../support/campaign.ts'
import { until } from '../support/service.ts'
import { HOOK_URL, world, type Org, type World } from '../support/world.ts'
import { browser, HANDS, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, LONG_MS, sceneItem, seat, settled, signIn } from './console.ts'

const run = promisify(execFile)
/** What counts calls has counted one more since the screen asked. */
const COUNTS = /^(organizations\.audit|usage\.)/
/** Addresses of files are signed anew each time. */
const SIGNED = /[?&](sig|signature|X-Amz-[\w-]+|expires?)=[^"&]*/gi

for (const hands of HANDS)
  test(`the console: the calls of every screen, by ${hands}`, { skip: WITHOUT_TIME, timeout: LONG_MS }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { vendors: true, startAt: new Date().toISOString() })
    const org = await w.organization('Coast survey')
    const all = await furnished(w, org)
    const screens = campaign({ short: all, ci: someOf(all, 4), long: all })
    const here = await seat(w, await browser(t, hands))
    const { page } = here
    const answers = answersOf(page)
    await journey('drawer', here, async () => {
      await signIn(here, org.owner)
      for (const address of screens) {
        await page.goto(`${w.baseUrl}/app${address}`)
        await settled(page)
        await shown(w, org, page, answers, address)
      }
    })
    await here.page.context().close()
    assertOwnBusiness(w, here)
  })

/** The last answer to each call, by what was asked. */
function answersOf(page: Page): Map<string, Promise<string>> {
  const answers = new Map<string, Promise<string>>()
  page.on('response', (response: Response) => {
    const request = response.request()
    const { pathname, search } = new URL(response.url())
    if (/^\/(v1\/op|auth)\//.test(pathname))
      answers.set(
        `${pathname}${search} ${request.postData() ?? ''}`,
        response.text().catch(() => ''),
      )
  })
  return answers
}

async function shown(w: World, org: Org, page: Page, answers: Map<string, Promise<string>>, address: string): Promise<void> {
  await page.keyboard.press('Shift+A')
  const drawer = page.getByLabel('API calls of this screen')
  await drawer.waitFor()
  const operations = await drawer.locator('button[aria-expanded] b').allTextContents()
  assert.ok(operations.length > 0, `${address}: a screen makes calls`)
  const id = operations.find(
    (operation) => w.platform.operations.get(operation)?.tier === 'read' && !w.platform.operations.get(operation)?.raw,
  )
  assert.ok(id, `${address}: one of ${operations.join(', ')} reads`)
  // By its name: calls that are made meanwhile stand before it.
  const head = drawer.locator(`button[aria-expanded]:has(b:text-is("${id}"))`).first()
  if ((await head.getAttribute('aria-expanded')) !== 'true') await head.click()
  if (address === '/library') await assertAccessible(page, 'the drawer')
  const text = (await drawer.locator('pre').textContent())!
  await shot(page, 'drawer')
  assert.ok(text.startsWith(`curl -s "$BASE"/v1/op/${id} `), `${address}: ${text}`)
  const { stdout } = await run('bash', ['-c', text], { env: { PATH: process.env['PATH'], BASE: w.baseUrl, TOKEN: org.owner.token } })
  const body = /-d '([\s\S]*)'$/.exec(text)?.[1]?.replaceAll(String.raw`'\''`, "'") ?? ''
  const asked = `/v1/op/${id} ${body}`
  // A call is shown when it is made; its answer may still be on its way.
  await until(`${address}: ${id} to be answered with ${body}`, () => answers.has(asked))
  const seen = (await answers.get(asked))!
  const plain = (answer: string) => JSON.parse(answer.replaceAll(SIGNED, '')) as object
  if (COUNTS.test(id)) assert.deepEqual(Object.keys(plain(stdout)), Object.keys(plain(seen)), address)
  else assert.deepEqual(plain(stdout), plain(seen), `${address}: ${id}`)
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })
}

async function furnished(w: World, org: Org): Promise<string[]> {
  const { token } = org.owner
  await grant(w, org, 50_000)
  const { id: collection } = await w.ok(token, 'collections.create', { project_id: org.projectId, name: 'Loire plain' })
  const item = await sceneItem(w, org, 'Loire valley, June', { collection_id: collection })
  const hook = await w.ok(token, 'event_subscriptions.create', { event_type: 'item.created', endpoint_url: `${HOOK_URL}hooks` })
  const { alert_rule } = await w.ok(token, 'alerts.create_rule', {
    name: 'Green again',
    collection_id: collection,
    expression: '(b8-b4)/(b8+b4)',
    comparison: 'gt',
    threshold: 0.9,
  })
  return [
    '/welcome',
    '/explore',
    '/library',
    `/library/${org.projectId}/${collection}`,
    `/view/${item}`,
    `/compare?a=${item}&b=${item}`,
    '/uploads',
    '/shares',
    '/reports',
    '/orders',
    '/tasking',
    '/tasking/new',
    '/jobs',
    '/processes',
    '/processes/band_math',
    '/clips',
    '/mosaics',
    '/alerts',
    `/alerts/${alert_rule.id}`,
    `/alerts/new?collection=${collection}`,
    '/inbox',
    '/lineage',
    `/lineage/item/${item}`,
    '/develop/keys',
    '/develop/requests',
    `/develop/webhooks/${hook.id}`,
    ...['', '/ledger', '/invoices', '/usage', '/cards', '/approvals', '/plan'].map((page) => `/billing${page}`),
    ...['', '/projects', '/licences', '/audit', '/organization'].map((page) => `/team${page}`),
  ]
}
