// Goal: a process is run from a form that its schema makes, with the price before and the result after.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import run from '#domains/processing/run.task.ts'
import { balance, grant } from '../orders/support.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, HANDS, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, sceneItem, seat, signIn } from './console.ts'

for (const hands of HANDS)
  test(`the console: jobs, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t)
    const chromium = await browser(t, hands)
    const org = await w.organization()
    await grant(w, org, 10_000)
    await sceneItem(w, org, 'Loire valley, June')
    await t.test('run one', () => runOne(w, org, chromium))
    await t.test('cancel one', () => cancelOne(w, org, chromium))
    await t.test('a viewer looks, and is not offered what they may not do', () => asViewer(w, org, chromium))
  })

// Goal: from an empty list to a result: form, errors at their fields, price, progress, result, and the money that it cost.
async function runOne(w: World, org: Org, chromium: Browser): Promise<void> {
  const here = await seat(w, chromium)
  const { page } = here
  await journey('jobs', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/jobs`)
    await page.getByText('No jobs yet').waitFor()
    await assertAccessible(page, 'jobs, empty')
    await page.getByRole('link', { name: /^Band math/ }).click()
    await page.getByRole('heading', { name: 'Band math' }).waitFor()
    await page.getByRole('option', { name: /Loire valley, June/ }).waitFor({ state: 'attached' })
    const option = await page.getByRole('option', { name: /Loire valley, June/ }).textContent()
    await page.getByLabel('Item', { exact: true }).selectOption({ label: option! })
    await page.getByLabel('Expression').fill('(b4-b3/')
    await page.locator('[role=alert]').first().waitFor()
    await assertAccessible(page, 'process with an error')
    await page.getByLabel('Expression').fill('(b4-b3)/(b4+b3)')
    const button = page.getByRole('button', { name: /^Run, A\$/ })
    await button.waitFor()
    await shot(page, 'process')
    await assertAccessible(page, 'process')
    await page.reload()
    await page.getByRole('button', { name: /^Run, A\$/ }).click()
    await page.waitForURL(/\/app\/jobs\/[0-9a-f-]{36}/)
    const jobId = new URL(page.url()).pathname.split('/').at(-1)!
    const [, reserved] = await balance(w, org)
    assert.ok(reserved > 0)
    await w.drain(run)
    await page.getByRole('link', { name: 'Open result' }).waitFor()
    await assertAccessible(page, 'job')
    await shot(page, 'job')
    const { job } = await w.ok(org.owner.token, 'processing.job.get', { job_id: jobId })
    assert.deepEqual([job.status, job.captured_credits], ['completed', reserved])
    assert.deepEqual(await balance(w, org), [10_000 - reserved, 0])
    await page.getByRole('link', { name: 'Open result' }).click()
    await page.waitForURL(/\/app\/view\//)
    await page.goto(`${w.baseUrl}/app/jobs?status=completed`)
    await page.getByRole('cell', { name: 'Done' }).waitFor()
    await page.getByRole('link', { name: 'Band math' }).click()
    await page.getByRole('link', { name: 'Run again' }).click()
    await page.getByLabel('Expression').waitFor()
    assert.equal(await page.getByLabel('Expression').inputValue(), '(b4-b3)/(b4+b3)')
  })
  await here.page.context().close() // Who still asks while the service closes would keep it.
  assertOwnBusiness(w, here)
}

// Goal: a job that has not ended is cancelled from its page after a question, and its credits come back.
async function cancelOne(w: World, org: Org, chromium: Browser): Promise<void> {
  const before = await balance(w, org)
  const { items } = await w.ok(org.owner.token, 'items.list', { project_id: org.projectId, q: 'Loire valley' })
  const { job } = await w.ok(org.owner.token, 'processing.create_and_dispatch', {
    project_id: org.projectId,
    job_type_id: 'band_math',
    input_params: { item_id: items[0].id, expression: 'b1' },
  })
  const here = await seat(w, chromium)
  const { page } = here
  await journey('job-cancel', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/jobs/${job.id}`)
    await page.getByRole('button', { name: 'Cancel job' }).click()
    const dialog = page.getByRole('dialog', { name: 'Cancel this job?' })
    await dialog.waitFor()
    await assertAccessible(page, 'cancel a job')
    await dialog.getByRole('button', { name: 'Cancel job' }).click()
    await page.getByText('Cancelled', { exact: true }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Cancel job' }).count(), 0)
    assert.equal((await w.ok(org.owner.token, 'processing.job.get', { job_id: job.id })).job.status, 'cancelled')
    assert.deepEqual(await balance(w, org), before)
  })
  await here.page.context().close() // Who still asks while the service closes would keep it.
  assertOwnBusiness(w, here)
}

async function asViewer(w: World, org: Org, chromium: Browser): Promise<void> {
  const here = await seat(w, chromium)
  const { page } = here
  await journey('jobs-viewer', here, async () => {
    await signIn(here, await w.member(org, 'viewer'))
    await page.goto(`${w.baseUrl}/app/processes/band_math`)
    await page.getByText('Only project editors can run processes.').waitFor()
    assert.equal(await page.getByRole('button', { name: /^Run/ }).count(), 0)
  })
  await here.page.context().close() // Who still asks while the service closes would keep it.
  assertOwnBusiness(w, here)
}
