// Goal: where something came from is shown as the service knows it, and each step leads to the call that made it.
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Browser, Locator } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import run from '#domains/processing/run.task.ts'
import { grant } from '../orders/support.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, sceneBytes, seat, SEATS, signIn } from './console.ts'

for (const { hands, name, options } of SEATS)
  test(`the console: evidence, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { startAt: new Date().toISOString() })
    const org = await w.organization()
    await grant(w, org, 10_000)
    await evidence(w, org, await browser(t, hands), options)
  })

// Goal (J14): the graph of a derived item has the nodes and steps of provenance.get; the audit log finds a step by its invocation.
async function evidence(w: World, org: Org, chromium: Browser, options: object): Promise<void> {
  const { token } = org.owner
  // An upload has a file in its lineage.
  const { body } = await w.upload(token, org.projectId, { 'June.tif': (await sceneBytes()).bytes })
  const [source] = body.item_ids as [string]
  await w.ok(token, 'items.update', { item_id: source, name: 'Loire valley, June' })
  const inputs = { item_id: source, expression: '(b8-b4)/(b8+b4)' }
  const { job: begun } = await w.ok(token, 'processing.execute', { process_id: 'band_math', workspaceId: org.projectId, inputs })
  await w.drain(run)
  const { job } = await w.ok(token, 'processing.job.get', { job_id: begun.id })
  const [derived] = job.output_item_ids as string[]
  const known = await w.ok(token, 'provenance.get', { entity_type: 'item', entity_id: derived, direction: 'both', max_depth: 5 })
  const tile = { item_id: derived, z: 0, x: 0, y: 0, format: 'png' }
  for (let n = 0; n < 3; n++) assert.equal((await w.call(token, 'items.tile.render', tile)).status, 200)
  await w.flushAudit()
  const here = await seat(w, chromium, { permissions: ['clipboard-read', 'clipboard-write'], ...options })
  const { page } = here
  await journey('evidence', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/lineage/item/${derived}`)
    const graph = page.getByRole('group', { name: /^Graph of/ })
    await graph.waitFor()
    assert.match((await graph.getAttribute('aria-label'))!, new RegExp(`${known.nodes.length} nodes? and ${known.edges.length} steps?`))
    assert.equal(await graph.getByRole('button').count(), known.nodes.length)
    for (const node of await graph.getByRole('button').all()) await assertInside(node.locator('svg'), node.locator('i'))
    // Names and pictures instead of IDs, in lanes; labels read in the direction of their arrow.
    await graph.getByRole('button', { name: /^Band math Job,/ }).waitFor()
    const first = graph.getByRole('button', { name: /^Loire valley, June / })
    await first.scrollIntoViewIfNeeded() // A thumbnail is loaded when it comes into view.
    await first.locator('img').waitFor()
    for (const lane of ['Projects', 'Items', 'Jobs']) await graph.getByText(lane, { exact: true }).waitFor()
    for (const label of ['used by', 'produced']) await graph.locator('text', { hasText: label }).first().waitFor()
    // The table beside it has the same steps.
    const table = page.getByRole('table', { name: 'All steps' })
    await table.getByRole('row', { name: 'Loire valley, June used by Band math' }).waitFor()
    assert.equal(await table.getByRole('row').count(), known.edges.length + 1)
    assert.equal(await graph.locator('text').count(), known.edges.length)
    await assertAccessible(page, 'lineage')
    await shot(page, 'evidence')
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download PDF' }).click()])
    const pdf = await readFile(await download.path())
    assert.equal(pdf.subarray(0, 5).toString(), '%PDF-')
    if (process.env['SCREENSHOTS']) await writeFile(`${process.env['SCREENSHOTS']}/lineage.pdf`, pdf)
    await graph.getByRole('button', { name: /^Loire valley, June / }).click()
    await page.getByRole('heading', { name: 'Loire valley, June', level: 2 }).waitFor()
    await page.getByRole('button', { name: 'Copy as JSON' }).click()
    await page.getByText('Lineage copied as JSON').waitFor()
    const copied = JSON.parse(await page.evaluate<string>('navigator.clipboard.readText()'))
    assert.deepEqual(copied, known)

    // The files of an upload are folded into it, and can be shown.
    const uploaded = await w.ok(token, 'provenance.get', { entity_type: 'item', entity_id: source, direction: 'both', max_depth: 5 })
    const files = uploaded.nodes.filter(({ entity_type }: { entity_type: string }) => entity_type === 'asset').length
    await page.getByRole('button', { name: 'Centre on this' }).click()
    await page.waitForURL(new RegExp(source))
    await graph.getByRole('button', { name: /^Loire valley, June Uploaded raster.*, 1 file$/ }).waitFor()
    assert.equal(await graph.getByRole('button').count(), uploaded.nodes.length - files)
    await shot(page, 'evidence-folded')
    await page.getByRole('button', { name: `Show ${files} files` }).click()
    await graph.getByText('Files', { exact: true }).waitFor()
    assert.equal(await graph.getByRole('button').count(), uploaded.nodes.length)
    await page.getByRole('button', { name: 'Fold files' }).click()
    await graph.getByText('Files', { exact: true }).waitFor({ state: 'detached' })

    // Reads of tiles share an entry, which shows how many there were.
    await page.goto(`${w.baseUrl}/app/team/audit?operation=items.tile.render`)
    const reads = page.getByRole('row').filter({ hasText: 'items.tile.render' })
    await reads.getByRole('cell', { name: '3', exact: true }).waitFor()
    assert.equal(await reads.count(), 1)

    // The step that made it, in the audit log.
    const edge = known.edges.find(({ src_id }: { src_id: string }) => src_id === derived) ?? known.edges[0]
    const { entries } = await w.ok(token, 'organizations.audit.list', { limit: 200 })
    const entry = entries.find(({ operation }: { operation: string }) => operation === 'processing.execute')
    assert.ok(entry && edge)
    await page.goto(`${w.baseUrl}/app/team/audit`)
    await page.getByLabel('Operation').fill('processing.execute')
    await page.keyboard.press('Enter')
    await page.waitForURL(/operation=processing.execute/)
    await page.getByRole('button', { name: new RegExp(`^${entry.invocation_id.slice(0, 13)}`) }).click()
    const dialog = page.getByRole('dialog', { name: 'processing.execute' })
    await dialog.getByText(entry.invocation_id).waitFor()
    await dialog.getByText(entry.input_sha256).waitFor()
    await assertAccessible(page, 'audit entry')
    await dialog.getByRole('link').first().click()
    await page.waitForURL(/\/app\/lineage\//)
  })
  await here.page.context().close()
  assertOwnBusiness(w, here)
}

/** An icon lies in the box that it belongs to. */
async function assertInside(part: Locator, whole: Locator): Promise<void> {
  const [inner, outer] = [(await part.boundingBox())!, (await whole.boundingBox())!]
  assert.ok(inner.x >= outer.x && inner.x + inner.width <= outer.x + outer.width, 'from left to right')
  assert.ok(inner.y >= outer.y && inner.y + inner.height <= outer.y + outer.height, 'from top to bottom')
}
