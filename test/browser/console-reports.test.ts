// Goal: a report is made in the browser, stays in the list after a reload, and its address gives the document.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConsoleBuild } from '#start/console-build.ts'
import { world } from '../support/world.ts'
import { browser, HANDS, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, seat, signIn } from './console.ts'

for (const hands of HANDS)
  test(`the console: reports, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { startAt: new Date().toISOString() })
    const org = await w.organization()
    await w.ok(org.owner.token, 'items.create', {
      project_id: org.projectId,
      type: 'user_vector',
      name: 'Parcels of the reef',
      bbox: [2.2, 48.1, 2.4, 48.3],
    })
    const here = await seat(w, await browser(t, hands))
    const { page } = here
    await journey('reports', here, async () => {
      await signIn(here, org.owner)
      await page.goto(`${w.baseUrl}/app/reports?about=project&project=${org.projectId}`)
      await page.getByText('No reports in this tab').waitFor()
      await page.getByRole('button', { name: 'CSV', exact: true }).click()
      await page.waitForURL(/format=csv/)
      await page.getByRole('button', { name: 'Create report' }).click()
      const link = page.getByRole('link', { name: /^Download Project, First project/ })
      await link.waitFor()
      await page.reload()
      await link.waitFor()
      await assertAccessible(page, 'reports')
      await shot(page, 'reports-made')
      const document = await fetch((await link.getAttribute('href'))!)
      assert.equal(document.status, 200)
      assert.match(document.headers.get('content-type')!, /text\/csv/)
      assert.match(await document.text(), /Parcels of the reef/)

      await page.getByLabel('Report type').selectOption('usage')
      await page.getByLabel('Period').fill('not a month')
      await page.getByRole('button', { name: 'Create report' }).click()
      await page.getByRole('alert').getByText('period').waitFor()
    })
    assertOwnBusiness(w, here)
  })
