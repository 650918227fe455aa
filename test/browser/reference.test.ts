// Goal: the reference names what a field may be in words that people use, in a real browser and under its policy.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../support/world.ts'
import { browser, shot, watchedPage, WITHOUT_BROWSER } from './chromium.ts'
import { PATIENT_MS } from './console.ts'

test('the reference shows fields that may be null by one type', { skip: WITHOUT_BROWSER }, async (t) => {
  const w = await world(t)
  const { page, faults } = await watchedPage(await browser(t), { viewport: { width: 1440, height: 1800 } })
  page.setDefaultTimeout(PATIENT_MS)
  await page.goto(`${w.baseUrl}/docs#/collections/collections.update`)
  const operation = page.locator('.opblock.is-open')
  await operation.getByRole('tab', { name: 'Schema' }).first().click()
  const field = operation.locator('.json-schema-2020-12-property', { hasText: 'Collection description' }).first()
  await field.waitFor()
  assert.match((await field.textContent()) ?? '', /^description\s*.*string or null/)
  assert.doesNotMatch((await operation.textContent()) ?? '', /Any of|One of/)
  await shot(page, 'reference')
  assert.deepEqual(faults, [])
})
