// Goal: two scenes of one place lie over each other, what differs is measured, and the difference becomes a rule.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { until } from '../support/service.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, HANDS, shot, WITHOUT_TIME, type Hands } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, PATIENT_MS, PHONE, sceneItem, seat, signIn } from './console.ts'

for (const hands of HANDS)
  test(`the console: compare, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { startAt: new Date().toISOString() })
    const org = await w.organization()
    const { id: collection_id } = await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Loire plain' })
    const june = await sceneItem(w, org, 'Loire, June', { datetime: '2025-06-12T10:40:00Z', collection_id })
    const october = await sceneItem(w, org, 'Loire, October', { datetime: '2025-10-12T10:40:00Z', collection_id })
    const chromium = await browser(t, hands)
    await compare(w, org, chromium, { june, october, hands })
    if (hands === 'mouse') await t.test('by finger', () => byFinger(w, org, chromium, `a=${june}&b=${october}`))
  })

const MAX_TRIES = 8

interface Scenes {
  june: string
  october: string
  hands: Hands
}

// Goal (J6): the divider by mouse and by keys; side by side, blinking, and as a difference that is drawn from what was measured; the
// change in hectares is that of analytics.execute; the alert begins with the expression, the place and the line.
async function compare(w: World, org: Org, chromium: Browser, { june, october, hands }: Scenes): Promise<void> {
  const here = await seat(w, chromium)
  const { page } = here
  await journey('compare', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/compare`)
    await page.getByText('Choose two items').waitFor()
    await assertAccessible(page, 'compare, empty')
    await page.getByLabel('Item A').selectOption(june)
    await page.getByLabel('Item B').selectOption(october)
    await page.waitForURL(/a=.*b=/)
    const place = (await page.locator('main').boundingBox())!
    const maps = page.locator('canvas.maplibregl-canvas')
    await maps.nth(1).waitFor()
    for (const map of await maps.all()) assert.equal((await map.boundingBox())!.height, place.height, 'each map fills the screen')
    const divider = page.getByRole('slider', { name: 'Divider between A and B' })
    if (hands === 'mouse') {
      const box = (await divider.boundingBox())!
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
      await page.mouse.down()
      await page.mouse.move(box.x - 200, box.y + box.height / 2, { steps: 4 })
      await page.mouse.up()
      await page.waitForURL(/at=\d+/)
      assert.ok(Number(await divider.getAttribute('aria-valuenow')) < 45)
    }
    const from = Number(await divider.getAttribute('aria-valuenow'))
    await divider.focus()
    await page.keyboard.press('Shift+ArrowRight')
    await page.keyboard.press('ArrowRight')
    await page.waitForURL(new RegExp(`at=${from + 11}`))
    await page.getByLabel('Style', { exact: true }).selectOption({ label: 'NDVI' })
    await page.waitForURL(/style=ndvi/)
    await page.getByRole('button', { name: 'Side by side' }).click()
    await page.waitForURL(/mode=side/)
    await page.reload()
    await page.getByRole('button', { name: 'Side by side', pressed: true }).waitFor()
    await page.getByRole('button', { name: 'Swipe' }).click()

    await page.getByRole('button', { name: 'Measure NDVI change' }).click()
    const change = page.getByRole('region', { name: 'Change', exact: true })
    // A machine that has much else to do refuses what takes it longer than five seconds.
    const decrease = change.getByRole('rowheader', { name: 'Decrease' })
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      await decrease.or(change.getByRole('button', { name: 'Try again' })).waitFor()
      if (await decrease.isVisible()) break
      await change.getByRole('button', { name: 'Try again' }).click()
    }
    await decrease.waitFor()
    await assertAccessible(page, 'compare')
    await shot(page, 'compare-change')
    const loss = await change.getByRole('row', { name: /^Decrease/ }).textContent()
    assert.match(loss!, /\d/)
    const [request] = [here.requests.findLast((url) => url.endsWith('/v1/op/analytics.execute'))]
    assert.ok(request, 'the numbers come from analytics.execute')
    await change.getByRole('img', { name: /^Histogram of the change in NDVI, from / }).waitFor()

    await page.getByRole('button', { name: 'Difference', exact: true }).click()
    await page.waitForURL(/mode=difference/)
    const isDifference = (url: string) => /\/api\/v1\/analytics\/[\w-]+\/tiles\//.test(url)
    await until('tiles of the difference', () => Promise.resolve(here.requests.some(isDifference)), PATIENT_MS)
    const runs = () => here.requests.filter((url) => url.endsWith('/v1/op/analytics.execute')).length
    const before = runs()
    await change.getByRole('button', { name: 'Download raster' }).waitFor()
    await assertAccessible(page, 'the difference')
    await shot(page, 'compare-difference')
    assert.equal(runs(), before, 'what was measured is drawn')

    await change.getByRole('link', { name: 'Create alert' }).click()
    await page.getByRole('heading', { name: 'New alert' }).waitFor()
    await page.getByText(/of 2/).waitFor()
    assert.match(await page.locator('#alert-expression').inputValue(), /b8.*b4/)
    await page.getByText(/an area of/).waitFor()
  })
  await here.page.context().close()
  assertOwnBusiness(w, here)
}

async function byFinger(w: World, org: Org, chromium: Browser, search: string): Promise<void> {
  const here = await seat(w, chromium, PHONE)
  const { page } = here
  await journey('compare-finger', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/compare?${search}`)
    const divider = page.getByRole('slider', { name: 'Divider between A and B' })
    const box = (await divider.boundingBox())!
    const session = await page.context().newCDPSession(page)
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', x: number) =>
      session.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x, y: box.y + box.height / 2 }] })
    await touch('touchStart', box.x + box.width / 2)
    for (const step of [30, 60, 90]) await touch('touchMove', box.x + box.width / 2 + step)
    await touch('touchEnd', 0)
    await page.waitForURL(/at=\d+/)
    assert.ok(Number(await divider.getAttribute('aria-valuenow')) > 60)
    await assertAccessible(page, 'compare on a phone')
  })
  await here.page.context().close()
  assertOwnBusiness(w, here)
}
