// Goal: files arrive whatever the connection does, and what cannot be taken is refused with the remedy.
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import convert from '../../src/domains/uploads/convert.task.ts'
import { until } from '../support/service.ts'
import { striped } from '../support/tiff.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, PATIENT_MS, sceneBytes, seat, SEATS, signIn } from './console.ts'

for (const { hands, name, options } of SEATS)
  test(`the console: uploads, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { startAt: new Date().toISOString() })
    await uploads(w, await w.organization(), await browser(t, hands), options)
  })

const storeOf = (w: World) => `http://127.0.0.1:${w.storePort}/**`
const choose = (page: Page, files: string[]) => page.locator('.page header input[type=file]:enabled').setInputFiles(files)

// Goal (J7): three files, of which two arrive after the connection was cut and the tab closed; an archive is refused before a byte
// moves; what does not fit into the plan is refused with the numbers.
async function uploads(w: World, org: Org, chromium: Browser, options: object): Promise<void> {
  const { bytes } = await sceneBytes()
  const file = async (name: string) => {
    const at = path.join(w.dataDir, name)
    await writeFile(at, bytes)
    return at
  }
  const files = [await file('Loire north.tif'), await file('Loire middle.tif'), await file('Loire south.tif')]
  const here = await seat(w, chromium, options)
  const { page } = here
  await journey('uploads', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/uploads`)
    await page.getByText('No uploads yet').waitFor()
    await choose(page, [await file('Everything.zip')])
    await page.getByRole('alert').getByText('Archives are not supported. Unpack it').waitFor()
    await page.getByRole('button', { name: 'Remove Everything.zip' }).click()

    // Nobody answers at the store: the files wait, the tab is closed.
    await page.context().route(storeOf(w), (route) => route.abort('connectionfailed'))
    await choose(page, files)
    await page.getByRole('button', { name: 'Pause' }).nth(2).waitFor()
    await until('all three sessions', async () => {
      const { uploads: open } = await w.ok(org.owner.token, 'uploads.list', { project_id: org.projectId })
      return open.filter((upload: { files: object[] }) => upload.files.length === 1).length === files.length
    })
    await shot(page, 'uploads-cut')
    await page.close({ runBeforeUnload: false })
  })
  const again = await seat(w, chromium, options)
  const second = again.page
  await journey('uploads-again', again, async () => {
    await signIn(again, org.owner)
    await second.goto(`${w.baseUrl}/app/uploads`)
    const left = second.getByRole('list', { name: 'Unfinished uploads' })
    await left.getByRole('listitem').nth(2).waitFor()
    await assertAccessible(second, 'uploads, begun and not finished')
    await shot(second, 'uploads-unfinished')
    await second.getByLabel('Resume Loire north.tif').setInputFiles([files[1]!])
    await second.getByText('Choose “Loire north.tif” to continue this upload.').waitFor()
    for (const at of files) await second.getByLabel(`Resume ${path.basename(at)}`).setInputFiles([at])
    const open = second.getByRole('link', { name: 'Open', exact: true })
    const end = Date.now() + PATIENT_MS
    while ((await open.count()) < 3 && Date.now() < end) await w.drain(convert)
    await open.nth(2).waitFor()
    await assertAccessible(second, 'uploads, ready')
    const { items } = await w.ok(org.owner.token, 'items.list', { project_id: org.projectId })
    assert.equal(items.length, 3, 'each file became an item, once')

    const nowhere = path.join(w.dataDir, 'Nowhere.tif')
    await writeFile(nowhere, striped({ width: 70, height: 60, georeference: false }))
    await choose(second, [nowhere])
    await second.getByRole('button', { name: 'Set position' }).click()
    await assertAccessible(second, 'uploads, a position')
    for (const [label, value] of [
      ['Left (west)', '-3'],
      ['Bottom (south)', '-2'],
      ['Right (east)', '4'],
      ['Top (north)', '4'],
    ] as const)
      await second.getByLabel(label).fill(value)
    await second.getByRole('dialog').getByRole('button', { name: 'Set position' }).click()
    while ((await open.count()) < 4 && Date.now() < end) await w.drain(convert)
    await open.nth(3).waitFor()
    const placed = (await w.ok(org.owner.token, 'items.list', { project_id: org.projectId })).items
    assert.ok(placed.some(({ name, bbox }: { name: string; bbox: number[] }) => name === 'Nowhere' && bbox.join() === '-3,-2,4,4'))

    const { storage_bytes, limits } = await w.ok(org.owner.token, 'usage.current')
    const rest = limits.storage_bytes - storage_bytes - 1
    await w.ok(org.owner.token, 'uploads.initiate', { project_id: org.projectId, file_count: 2, total_bytes: rest })
    await choose(second, [await file('One too many.tif')])
    await second
      .getByRole('alert')
      .getByText(/bytes do not fit/)
      .waitFor()
    await shot(second, 'uploads-full')
  })
  await second.context().close()
  assertOwnBusiness(w, again)
}
