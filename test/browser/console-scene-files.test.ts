// Goal: the files of one scene, one for each band, are uploaded together and become one item with one layer; what is not a scene is
// refused before or after the upload, in words.
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { bandFile, reflectance } from '../support/stack.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, HANDS, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, seat, signIn, type Seat } from './console.ts'

const PRODUCT = 'T56HLH_20290101T000000'
const SIZE = { width: 300, height: 260, pixelM: 10 }

for (const hands of HANDS)
  test(`the console: files of one scene, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t)
    const here = await seat(w, await browser(t, hands))
    await sceneFiles(w, await w.organization(), here)
    assertOwnBusiness(w, here)
  })

const choose = (page: Page, files: string[]) => page.locator('.page header input[type=file]:enabled').setInputFiles(files)

async function sceneFiles(w: World, org: Org, here: Seat): Promise<void> {
  const { page } = here
  const file = async (name: string, bytes: Uint8Array) => {
    const at = path.join(w.dataDir, name)
    await writeFile(at, bytes)
    return at
  }
  const bands = [
    await file(`${PRODUCT}_B02.tif`, await bandFile({ ...SIZE, value: reflectance(600) })),
    await file(`${PRODUCT}_B03.tif`, await bandFile({ ...SIZE, value: reflectance(700, 1) })),
    await file(`${PRODUCT}_B04.tif`, await bandFile({ ...SIZE, value: reflectance(900, 2) })),
    await file(`${PRODUCT}_B08.tif`, await bandFile({ ...SIZE, value: reflectance(3_000, 3) })),
  ]
  const wide = await file('Three bands.tif', await bandFile({ ...SIZE, bandCount: 3, value: reflectance(900) }))
  await journey('scene-files', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/uploads`)
    await page.getByLabel('Bands of one scene, as one item').check()
    await choose(page, [bands[0]!])
    await page.getByRole('alert').getByText('Choose all files of the scene together, one for each band.').waitFor()
    await page.getByRole('button', { name: /^Remove/ }).click()

    await choose(page, [bands[0]!, wide])
    await page
      .getByRole('alert')
      .getByText(/Three bands\.tif has 3 bands/)
      .waitFor()
    await page.getByRole('button', { name: /^Remove/ }).click()
    const none = await w.ok(org.owner.token, 'items.list', { project_id: org.projectId })
    assert.equal(none.total, 0, 'a scene that is refused leaves nothing')

    await choose(page, bands)
    await page.getByText(`${PRODUCT} (4 files)`).waitFor()
    const open = page.getByRole('link', { name: 'Open', exact: true })
    await open.waitFor()
    await assertAccessible(page, 'files of a scene')
    await shot(page, 'scene-files')
    const { items, total } = await w.ok(org.owner.token, 'items.list', { project_id: org.projectId })
    assert.equal(total, 1)
    const assets = await w.ok(org.owner.token, 'items.list_assets', { item_id: items[0].id })
    assert.deepEqual(
      assets.map(({ key }: { key: string }) => key),
      ['B02', 'B03', 'B04', 'B08'],
    )
    await open.click()
    await page.waitForURL(/\/app\/view\//)
    const red = page.getByLabel('Red', { exact: true })
    await red.waitFor()
    assert.match((await red.locator('option:checked').textContent())!, /red$/)
    await page.getByRole('tab', { name: 'Metadata' }).click()
    await page.getByText('B08', { exact: false }).first().waitFor()
    await shot(page, 'scene-item')
  })
  await page.context().close() // Who still asks while the service closes would keep it.
}
