import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { loadConfig } from '#config.ts'
import { findings } from '#start/doctor.ts'
import { DEMO_EMAIL, DEMO_PASSWORD } from '../../sandbox/demo/account.ts'
import { ok, post } from '../support/client.ts'
import { createEmptyDatabase } from '../support/database.ts'
import { startExposed } from '../support/exposed.ts'
import { openLab } from '../support/service.ts'
import type { ExposedRow } from './row.ts'

const GUIDE = path.join(import.meta.dirname, '../../docs/guides/before-you-expose-it.md')
const ROWS = path.join(import.meta.dirname, 'rows')

/** What the guide tells an operator to set, to the letter. */
function settingsOfGuide(): Record<string, string> {
  const block = /^```env\n(.*?)^```/ms.exec(readFileSync(GUIDE, 'utf8'))?.[1] ?? ''
  return Object.fromEntries(
    block
      .trim()
      .split('\n')
      .map((line) => line.split('=', 2) as [string, string]),
  )
}

const rows = await Promise.all(
  globSync('*.ts', { cwd: ROWS })
    .toSorted()
    .map(async (file) => ({ file, ...((await import(path.join(ROWS, file))) as { default: ExposedRow }).default })),
)

// Goal: a service with the settings of the guide 'Before you expose it' gets no warning, and withstands the attacks.
test('a service with the settings of the guide', async (t) => {
  const env = settingsOfGuide()

  await t.test('the doctor finds nothing', () => assert.deepEqual(findings(loadConfig(env)), []))

  const lab = openLab()
  t.after(() => lab.close())
  const database = await createEmptyDatabase()
  t.after(() => database.drop())
  const data = { DATABASE_URL: database.url, DATA_DIR: lab.dataDir() }
  const local = await lab.start({ env: data })
  const { body } = await post(local.baseUrl, '/auth/sign-in', { email: DEMO_EMAIL, password: DEMO_PASSWORD })
  const { key } = await ok(local.baseUrl, body.access_token, 'api_keys.create', { name: 'left behind', permissions: ['read', 'write'] })
  await local.kill('SIGKILL')
  const service = await startExposed(lab, { ...env, ...data })

  for (const { row, file, attempt } of rows)
    await t.test(`row ${row}: ${file}`, async () => await attempt({ service, env, demo: { token: body.access_token, key } }))
})
