// Goal: small things that users stumbled over work: on a phone, with a wrong expression, with a rejected file, with an invitation.
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import convert from '../../src/domains/uploads/convert.task.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, HANDS, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, journey, PATIENT_MS, PHONE, sceneBytes, sceneItem, seat, signIn, type Seat } from './console.ts'

for (const hands of HANDS)
  test(`the console: details, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { startAt: new Date().toISOString() })
    const org = await w.organization()
    const item = await sceneItem(w, org, 'Loire valley, June')
    const chromium = await browser(t, hands)
    await t.test('a wrong expression leaves the image', async () => wrongExpression(w, org, chromium, item))
    await t.test('a share link opens in the style it was created in', async () => sharedStyle(w, org, chromium, item))
    await t.test('an owner allows public links, and one opens without a password', async () => publicLink(w, org, chromium, item))
    await t.test('pixel bars have the colours of the bands', async () => pixelBars(w, org, chromium, item))
    await t.test('breadcrumbs, and projects of this organization only', async () => breadcrumbs(w, org, chromium))
    await t.test('a rejected file is replaced', async () => replacedFile(w, org, chromium))
    await t.test('the example of a process uses an item that exists', async () => example(w, org, chromium))
    await t.test('an invitation says who invites, and to what', async () => invitation(w, org, chromium))
  })

test('the console: the viewer on a phone', { skip: WITHOUT_TIME }, async (t) => {
  await createConsoleBuild().run(new AbortController().signal)
  const w = await world(t, { startAt: new Date().toISOString() })
  const org = await w.organization()
  await onPhone(w, org, await browser(t), await sceneItem(w, org, 'Loire valley, June'))
})

async function at(w: World, org: Org, chromium: Browser, address: string, options: object = {}): Promise<Seat> {
  const here = await seat(w, chromium, options)
  await signIn(here, org.owner)
  await here.page.goto(`${w.baseUrl}/app${address}`)
  return here
}

// Goal: everything that the panel beside the map has on a desk can be done on a phone.
async function onPhone(w: World, org: Org, chromium: Browser, item: string): Promise<void> {
  const here = await at(w, org, chromium, `/view/${item}`, PHONE)
  const { page } = here
  await journey('viewer-phone', here, async () => {
    await page.getByRole('tab', { name: 'Layers' }).click()
    await page.getByRole('slider', { name: 'Opacity' }).fill('0.4')
    await page.getByText('40%').first().waitFor()
    await page.getByRole('button', { name: 'Hide layer' }).click()
    await page.getByRole('button', { name: 'Show layer' }).click()
    await assertAccessible(page, 'layers on a phone')
    await shot(page, 'viewer-phone-layers')
    await page.getByRole('button', { name: 'Download' }).click()
    await page.getByRole('menuitem').first().waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create link' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Compare' }).click()
    await page.waitForURL(/\/app\/compare\?a=/)
  })
  await page.context().close()
}

// Goal: the last image, its legend and one error: not an empty map with the same sentence three times.
async function wrongExpression(w: World, org: Org, chromium: Browser, item: string): Promise<void> {
  const here = await at(w, org, chromium, `/view/${item}`)
  const { page, requests } = here
  await journey('wrong-expression', here, async () => {
    await page.getByRole('button', { name: 'Expression' }).click()
    const field = page.getByLabel(/^Expression/)
    await field.fill('(b8 - b4) / (b8 + b4)')
    await page.getByText('Valid', { exact: true }).waitFor()
    await page.getByRole('group', { name: 'Styles' }).getByRole('button', { name: 'NDVI', exact: true, pressed: true }).waitFor()
    await page.locator('.legend').getByText('NDVI').waitFor()
    await field.fill('(b8 - b4) / (b8 + )')
    await page.getByRole('alert').getByText('at character 19').waitFor()
    assert.equal(await page.getByRole('alert').count(), 1, 'one error')
    await page.locator('.legend').getByText('(b8 - b4) / (b8 + b4)').waitFor()
    const wrong = new URLSearchParams({ expression: '(b8 - b4) / (b8 + )' }).toString()
    assert.deepEqual(
      requests.filter((url) => url.includes('/tiles/') && url.includes(wrong)),
      [],
      'no tile of it was requested',
    )
    await shot(page, 'wrong-expression')
    await page.route(/items\.tile\.statistics/, (route) => route.abort('connectionfailed'))
    await field.fill('b8 / b5')
    await page.getByText('Not computed', { exact: true }).waitFor()
    await page.getByRole('alert').getByText('The expression could not be computed: Could not reach the service.').waitFor()
    assert.equal(await page.getByText('Invalid', { exact: true }).count(), 0)
  })
  await page.context().close()
}

async function sharedStyle(w: World, org: Org, chromium: Browser, item: string): Promise<void> {
  const here = await at(w, org, chromium, `/view/${item}?expr=b8%2Fb5&cmap=viridis`)
  const { page } = here
  await journey('shared-style', here, async () => {
    await page.getByText('Valid', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    const dialog = page.getByRole('dialog')
    const password = await dialog.getByLabel('Password', { exact: true }).inputValue()
    await dialog.getByText('The style is saved as a profile of this item').waitFor()
    await dialog.getByRole('button', { name: 'Create link' }).click()
    const url = (await dialog.getByLabel('Share link').textContent())!
    const visitor = await chromium.newContext()
    const other = await visitor.newPage()
    await other.goto(url)
    await other.getByLabel('Password', { exact: true }).fill(password)
    await other.getByRole('button', { name: 'Open', exact: true }).click()
    await other.locator('.styles label:has(input:checked)').getByText('b8/b5', { exact: true }).waitFor({ timeout: PATIENT_MS })
    await visitor.close()
  })
  await page.context().close()
}

// Goal: nobody is offered a public link until an owner has allowed them; then it is a choice with a warning, and visitors see the map.
async function publicLink(w: World, org: Org, chromium: Browser, item: string): Promise<void> {
  const here = await at(w, org, chromium, `/view/${item}`)
  const { page } = here
  await journey('public-link', here, async () => {
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    await dialog.getByRole('button', { name: 'Create link' }).waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'Anyone with the link' }).count(), 0)
    await page.goto(`${w.baseUrl}/app/team/organization`)
    await page.getByRole('switch', { name: 'Public links' }).click()
    await page.locator('[role=switch][aria-checked=true]').waitFor()
    await assertAccessible(page, 'the organization')
    await page.goto(`${w.baseUrl}/app/view/${item}`)
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    await dialog.getByRole('button', { name: 'Anyone with the link' }).click()
    await dialog.getByText('Anyone who receives or finds this link can see the item').waitFor()
    assert.equal(await dialog.getByLabel('Password', { exact: true }).count(), 0)
    await assertAccessible(page, 'a public link')
    await shot(page, 'public-link')
    await dialog.getByRole('button', { name: 'Create link' }).click()
    const url = (await dialog.getByLabel('Share link').textContent())!
    const visitor = await chromium.newContext()
    const other = await visitor.newPage()
    await other.goto(url)
    await other.getByRole('heading', { name: 'Loire valley, June' }).waitFor({ timeout: PATIENT_MS })
    await other.locator('#map[aria-busy="false"]').waitFor({ timeout: PATIENT_MS })
    assert.ok(await other.locator('#password-form').isHidden())
    await visitor.close()
  })
  await page.context().close()
}

async function pixelBars(w: World, org: Org, chromium: Browser, item: string): Promise<void> {
  const here = await at(w, org, chromium, `/view/${item}?tab=pixel`)
  const { page } = here
  await journey('pixel-bars', here, async () => {
    const { bbox } = (await w.ok(org.owner.token, 'items.get', { item_id: item })).item
    await page.getByLabel('Latitude, longitude').fill(`${(bbox[1] + bbox[3]) / 2}, ${(bbox[0] + bbox[2]) / 2}`)
    await page.getByRole('button', { name: 'Pin', exact: true }).click()
    const row = page.locator('.pixel-values-band')
    await row.first().waitFor()
    const colourOf = (name: string) =>
      page.evaluate<string>(`getComputedStyle([...document.querySelectorAll('.pixel-values-band')]
        .find(({ innerText }) => / ${name}\\b/.test(innerText)).querySelector('i')).backgroundColor`)
    assert.equal(await colourOf('red'), 'rgb(208, 67, 58)')
    assert.equal(await colourOf('green'), 'rgb(46, 145, 80)')
    assert.equal(await colourOf('blue'), 'rgb(47, 111, 214)')
    await shot(page, 'pixel-bars')
  })
  await page.context().close()
}

// Goal: the way up is shown however the screen was reached, and what belongs to another organization is not in the lists.
async function breadcrumbs(w: World, org: Org, chromium: Browser): Promise<void> {
  const elsewhere = await w.organization()
  const { id: foreign } = await w.ok(elsewhere.owner.token, 'projects.create', { name: 'Of another organization' })
  await w.guest(foreign, 'editor', org.owner)
  const here = await at(w, org, chromium, '/library')
  const { page } = here
  await journey('breadcrumbs', here, async () => {
    const crumbs = page.locator('header .shell-crumbs')
    await page.waitForURL(/\/library\/[0-9a-f-]{36}/)
    await crumbs.getByRole('link', { name: 'Library' }).waitFor()
    await crumbs.getByText('First project').waitFor()
    // Again with everything loaded already.
    await page.getByRole('navigation', { name: 'Main', exact: true }).getByRole('link', { name: 'Jobs' }).click()
    await page.waitForURL(/\/app\/jobs/)
    await page.goBack()
    await crumbs.getByText('First project').waitFor()
    assert.equal(await page.getByText('Of another organization').count(), 0)
  })
  await page.context().close()
}

async function replacedFile(w: World, org: Org, chromium: Browser): Promise<void> {
  const { bytes } = await sceneBytes()
  const good = path.join(w.dataDir, 'Right.tif')
  const text = path.join(w.dataDir, 'Wrong.tif')
  await writeFile(good, bytes)
  await writeFile(text, 'This is not a TIFF.')
  const here = await at(w, org, chromium, '/uploads')
  const { page } = here
  await journey('replaced-file', here, async () => {
    await page.locator('.page header input[type=file]:enabled').setInputFiles([text])
    const row = page.getByRole('list', { name: 'Files' }).getByRole('listitem')
    await row.getByRole('alert').waitFor()
    assert.equal((await row.innerText()).split('Wrong.tif').length - 1, 1, 'the name of the file is said once')
    assert.equal(await row.getByText(/Continue|Retry|Resume/).count(), 0)
    await shot(page, 'rejected-upload')
    await page.getByLabel('Replace Wrong.tif').setInputFiles([good])
    const open = row.getByRole('link', { name: 'Open', exact: true })
    const end = Date.now() + PATIENT_MS
    while ((await open.count()) < 1 && Date.now() < end) await w.drain(convert)
    await open.waitFor()
    assert.equal(await row.count(), 1, 'in its place')
    assert.equal(await row.locator('.ui-danger').count(), 0, 'nothing red about a file that is ready')
  })
  await page.context().close()
}

async function example(w: World, org: Org, chromium: Browser): Promise<void> {
  const here = await at(w, org, chromium, '/processes/band_math')
  const { page } = here
  await journey('example', here, async () => {
    await page.getByRole('button', { name: 'Use example values' }).click()
    await page.waitForURL(/in=/)
    const values = JSON.parse(new URL(page.url()).searchParams.get('in')!) as { item_id: string }
    const { features } = await w.ok(org.owner.token, 'items.search_org', {})
    assert.ok(features.some(({ id }: { id: string }) => id === values.item_id))
    await page.getByRole('button', { name: /^Run/ }).waitFor()
  })
  await page.context().close()
}

async function invitation(w: World, org: Org, chromium: Browser): Promise<void> {
  const { name } = await w.ok(org.owner.token, 'organizations.get')
  const { invitation: open } = await w.ok(org.owner.token, 'organizations.members.invite', { email: 'ben@example.com', role: 'admin' })
  const here = await seat(w, chromium)
  const { page } = here
  await journey('invitation', here, async () => {
    await page.goto(`${w.baseUrl}/app/invite/${open.url.split('/').at(-1)}`)
    await page.getByRole('heading', { name: `Join ${name}` }).waitFor()
    await page.getByText(`${org.owner.email.split('@')[0]} invites you`).waitFor()
    await page.getByText('admin', { exact: true }).waitFor()
    await assertAccessible(page, 'an invitation')
    await shot(page, 'invitation')
    await page.goto(`${w.baseUrl}/app/invite/inv_used`)
    await page.getByRole('heading', { name: 'Invitation not available' }).waitFor()
  })
  await page.context().close()
}
