// Goal: the service that npm start runs from its bundle is the one of the sources, with the processes that it starts, and a bundle of
// other sources is never used.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bundleNote, isCurrent, requireBundle, type BundleNote } from '#start/bundle.ts'
import { DEMO_EMAIL, DEMO_PASSWORD } from '../sandbox/demo/account.ts'
import { openLab, until } from './support/service.ts'

const root = path.join(import.meta.dirname, '..')
const PATIENT_MS = 600_000

test('the bundle of the service', async (t) => {
  const bundle = await requireBundle()
  assert.ok(bundle, 'it can be built')
  const note = JSON.parse(readFileSync(bundleNote(root), 'utf8')) as BundleNote

  await t.test('it is used as long as nothing has changed', () => {
    assert.ok(isCurrent(note))
    const files = note.sources.map(([file]) => file)
    for (const file of ['src/main.ts', 'tools/bundle.ts', 'sandbox/demo/seed.ts', 'node_modules/.package-lock.json'])
      assert.ok(files.includes(file), file)
  })

  await t.test('a file that was changed or removed, and another Node each make it outdated', () => {
    const [first, ...others] = note.sources
    assert.ok(!isCurrent({ ...note, sources: [[first![0], '1 1'], ...others] }))
    assert.ok(!isCurrent({ ...note, sources: [['src/gone.ts', first![1]], ...others] }))
    assert.ok(!isCurrent({ ...note, node: 'v24.0.0' }))
    assert.ok(!isCurrent({ ...note, folder: 'gone' }))
  })

  await t.test('modules that are loaded by their names are in it, or named by their place among the sources', () => {
    const folder = path.dirname(fileURLToPath(bundle.main))
    const texts = readdirSync(folder).map((file) => readFileSync(path.join(folder, file), 'utf8'))
    for (const text of texts) {
      assert.doesNotMatch(text, /\bimport\(`/, 'a name that is put together is found in neither')
      assert.ok(!text.includes(root), 'it can be copied to another place: it names none')
    }
    const named = texts.flatMap((text) => [...text.matchAll(/new URL\("(\.[^"]+)", import\.meta\.url\)/g)])
    const files = named.map(([, file]) => new URL(file!, bundle.main))
    assert.deepEqual(
      files.filter((file) => !existsSync(file)),
      [],
    )
    for (const name of ['sandbox-demo-seed.ts.mjs', 'child.ts', 'handlers.ts', 'operations.tsv', 'package.json'])
      assert.ok(files.some(({ pathname }) => path.basename(pathname) === name))
  })

  await t.test('a service from it has the same contract, and fills the demo with its own processes', async (t) => {
    const lab = openLab()
    t.after(() => lab.close())
    const service = await lab.start({ entry: 'src/launch.ts', env: { DATA_DIR: lab.dataDir(), DEMO: '1', LOG_LEVEL: 'info' } })
    const published = JSON.parse(readFileSync(path.join(root, 'docs/openapi.json'), 'utf8')) as { paths: object }
    const served = (await (await fetch(`${service.baseUrl}/openapi.json`)).json()) as { paths: object }
    assert.deepEqual(Object.keys(served.paths), Object.keys(published.paths))
    const signIn = await fetch(`${service.baseUrl}/auth/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: DEMO_EMAIL, password: DEMO_PASSWORD }),
    })
    assert.equal(signIn.status, 200)
    await until('the second scene', () => service.output().includes('demo: scene 2 of'), PATIENT_MS)
  })
})
