// Goal: somebody who has nothing has a picture on the map and a call that answers, in a minute.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { firstCall } from '../../packages/console/src/screens/keys/first-call.ts'
import { world, type World } from '../support/world.ts'
import { browser, HANDS, shot, WITHOUT_BROWSER, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, seat } from './console.ts'

for (const hands of HANDS)
  test(`the console: first minute, by ${hands}`, { skip: hands === 'mouse' ? WITHOUT_BROWSER : WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { vendors: true })
    await firstMinute(t, w, await browser(t, hands))
  })

// Goal (J1): from nothing to a picture on the map and a call that answers, without leaving the browser.
async function firstMinute(t: TestContext, w: World, chromium: Browser): Promise<void> {
  const here = await seat(w, chromium)
  const { page } = here
  await journey('first', here, async () => {
    await page.getByRole('link', { name: 'Create one' }).click()
    await page.getByLabel('Name').fill('Mira')
    await page.getByLabel('Email').fill(`mira-${process.pid}@example.com`)
    await page.getByLabel('Password', { exact: true }).fill('coral and sand 84')
    await shot(page, 'sign-up')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('heading', { name: 'Create your organization' }).waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Coast survey')
    await assertAccessible(page, 'choice of organization')
    await page.getByRole('button', { name: 'Create organization' }).click()
    await page.getByRole('heading', { name: 'Your organization is ready' }).waitFor()
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Wetland survey')
    await page.getByRole('button', { name: 'Create project' }).click()
    await page.getByText('No items yet').waitFor()
    await page.goto(`${w.baseUrl}/app/welcome`)
    await shot(page, 'welcome')
    await page.getByRole('button', { name: 'Add sample' }).click()
    await page.waitForURL(/\/app\/view\//)
    await page.getByRole('tab', { name: 'Style' }).waitFor()
    await t.test('a key, and the first call with it', async () => {
      await page.goto(`${w.baseUrl}/app/develop/keys`)
      await page.getByRole('button', { name: 'New key' }).first().click()
      await page.getByRole('dialog').getByLabel('Name').fill('Nightly job')
      await page.getByRole('button', { name: 'Create key' }).click()
      await page.getByRole('button', { name: 'Show' }).click()
      const key = await page.getByLabel('New API key').textContent()
      const { body } = await w.call(key!, 'projects.list', {})
      assert.equal(body.projects[0].name, 'Wetland survey')
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: w.baseUrl })
      for (const [name, caller] of [
        ['curl', 'curl'],
        ['JS', 'js'],
        ['Python', 'python'],
        ['QGIS', 'qgis'],
      ] as const) {
        await page.getByRole('button', { name, exact: true }).click()
        await page.getByRole('button', { name: 'Copy with the key' }).click()
        const copied = await page.evaluate('navigator.clipboard.readText()')
        assert.equal(copied, firstCall(caller, w.baseUrl, key))
        assert.ok(!(await page.locator('pre').allTextContents()).join('').includes(key!), 'the key is copied, not shown')
      }
    })
    await t.test('a reload keeps the session, another tab too', async () => {
      await page.reload()
      await page.getByText('Nightly job').waitFor()
      const second = await page.context().newPage()
      await Promise.all([second.goto(`${w.baseUrl}/app/library`), page.reload()])
      await second.getByRole('link', { name: /All items/ }).waitFor()
      await page.getByText('Nightly job').waitFor()
    })
  })
  assertOwnBusiness(w, here)
}
