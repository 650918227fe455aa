// Goal: an item is styled, kept, shared with a stranger, and seen by a viewer who may change nothing.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '#console.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, shot, watchedPage, WITHOUT_BROWSER } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, PATIENT_MS, sceneItem, seat, signIn } from './console.ts'

test('the console: look and share', { skip: WITHOUT_BROWSER }, async (t) => {
  await createConsoleBuild().run(new AbortController().signal)
  const w = await world(t)
  const chromium = await browser(t)
  const org = await w.organization()
  await t.test('style an item, share it', (part) => styleAndShare(part, w, org, chromium))
  await t.test('a viewer', () => viewer(w, org, chromium))
})

// Goal (J4, J11): a look is chosen and mended, kept as a profile, and shared; a stranger opens the link, and not after its end.
async function styleAndShare(t: TestContext, w: World, org: Org, chromium: Browser): Promise<void> {
  const id = await sceneItem(w, org, 'Loire valley, June')
  const here = await seat(w, chromium)
  const { page } = here
  await journey('view', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/view/${id}`)
    await page.getByRole('button', { name: 'Expression' }).click()
    await page.getByRole('button', { name: 'NDVI', exact: true }).click()
    await page.locator('.legend').getByText('NDVI', { exact: true }).waitFor()
    await t.test('a wrong expression is refused in words', async () => {
      await page.getByLabel(/^Expression/).fill('(b4 - nothing) / 2')
      await page.getByText('wrong', { exact: true }).waitFor()
      await page.getByRole('alert').first().waitFor()
      await page.getByLabel(/^Expression/).fill('(b4 - b3) / (b4 + b3)')
      await page.getByText('valid', { exact: true }).waitFor()
    })
    await t.test('a handle moves by keys, and the range is in the address', async () => {
      const handle = page.getByRole('slider', { name: 'Lowest value' })
      await handle.focus()
      await page.keyboard.press('ArrowRight')
      await page.waitForURL(/range=/)
    })
    await page.getByRole('button', { name: 'Save as profile' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Greenness')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Greenness is saved').waitFor()
    const profiles = await w.ok(org.owner.token, 'visualization.profiles.list', { item_id: id })
    assert.ok(profiles.some(({ name }: { name: string }) => name === 'Greenness'))
    await shot(page, 'viewer')

    await page.getByRole('button', { name: 'Share', exact: true }).click()
    const password = await page.getByRole('dialog').getByLabel('Password').inputValue()
    await page.getByRole('button', { name: 'Make the link' }).click()
    const link = await page.getByLabel('Share link').textContent()
    await shot(page, 'share')
    await assertAccessible(page, 'share dialog')
    const stranger = await watchedPage(chromium)
    await stranger.page.goto(link!)
    await stranger.page.getByLabel('Password', { exact: true }).fill(password)
    await stranger.page.getByRole('button', { name: 'Open', exact: true }).click()
    await stranger.page.getByRole('heading', { name: 'Loire valley, June' }).waitFor({ timeout: PATIENT_MS })
    await page.getByRole('button', { name: 'End', exact: true }).click()
    await page.getByText('Not shared.').waitFor()
    const token = link!.split('/').at(-1)
    assert.equal((await w.post('/v1/op/share.link.validate', { token, password })).status, 401)
  })
  assertOwnBusiness(w, here)
}

// Goal (J13): a viewer sees what there is, and no button that may not be pressed.
async function viewer(w: World, org: Org, chromium: Browser): Promise<void> {
  const id = await sceneItem(w, org, '<img src=x onerror=alert(1)> hostile')
  const who = await w.member(org, 'viewer')
  const here = await seat(w, chromium)
  const { page } = here
  await journey('view', here, async () => {
    await signIn(here, who)
    await page.goto(`${w.baseUrl}/app/view/${id}`)
    await page.getByRole('tab', { name: 'Style' }).waitFor()
    await page.getByRole('button', { name: 'Copy tile address' }).waitFor()
    for (const name of ['Save as profile', 'Share', 'Delete the item'])
      assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name)
    await page.goto(`${w.baseUrl}/app/library`)
    await page.getByText('<img src=x onerror=alert(1)> hostile').first().waitFor()
    assert.equal(await page.getByRole('link', { name: 'Upload' }).count(), 0)
    await page.goto(`${w.baseUrl}/app/uploads`)
    await page.getByText('You may look, not upload').waitFor()
    await page.goto(`${w.baseUrl}/app/billing`)
    await page.getByText('Billing is for owners and admins').waitFor()
  })
  assertOwnBusiness(w, here)
}
