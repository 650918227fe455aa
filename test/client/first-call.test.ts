import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { firstCall, type Caller } from '../../packages/console/src/screens/keys/first-call.ts'
import { rasterItem } from '../support/layers.ts'
import { scene } from '../support/scene.ts'
import { world } from '../support/world.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const CLIENT = path.join(ROOT, 'packages/client/src/index.ts')
/** A Python with httpx; see .ci/requirements-python.txt. */
const PYTHON = process.env['PYTHON_CLIENT'] ?? 'python3'
const withoutPython = spawnSync(PYTHON, ['-c', 'import httpx']).status === 0 ? false : `${PYTHON} has no httpx`
const withoutCurl = spawnSync('curl', ['--version']).status === 0 ? false : 'no curl here'

/** How each is run once it has been pasted somewhere; the package is that of this checkout. */
const RUN: Readonly<Record<Exclude<Caller, 'qgis'>, (text: string) => readonly [program: string, ...words: string[]]>> = {
  curl: (text) => ['sh', '-c', text],
  js: (text) => [process.execPath, '--input-type=module', '-e', text.replace('@groundtrack/client', CLIENT)],
  python: (text) => [PYTHON, '-c', text],
}
const SKIP = { curl: withoutCurl, js: false, python: withoutPython } as const

// Goal: what the console offers to copy as a first call runs as it is, with the key in it or in the environment.
test('the first call that the console offers to copy', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  await w.ok(token, 'projects.create', { name: 'Wetland survey' })
  const { key } = await w.ok(token, 'api_keys.create', { name: 'First call', permissions: ['read'] })
  const { GROUNDTRACK_API_KEY: _, ...env } = { ...process.env, PYTHONPATH: path.join(ROOT, 'packages/python/src') } as NodeJS.ProcessEnv

  for (const caller of ['curl', 'js', 'python'] as const)
    await t.test(caller, { skip: SKIP[caller] }, async () => {
      const run = async (text: string, more: NodeJS.ProcessEnv = {}) => {
        const [program, ...words] = RUN[caller](text)
        return (await promisify(execFile)(program, words, { cwd: ROOT, env: { ...env, ...more } })).stdout
      }
      const text = firstCall(caller, w.baseUrl)
      assert.ok(!text.includes(key))
      assert.match(await run(text, { GROUNDTRACK_API_KEY: key }), /Wetland survey/)
      assert.match(await run(firstCall(caller, w.baseUrl, key)), /Wetland survey/, 'with the key in it')
    })

  await t.test('QGIS', async () => {
    const id = await rasterItem(w, org, [{ bytes: await scene() }])
    const url = /URL: (\S+)$/.exec(firstCall('qgis', w.baseUrl, key))![1]!.replace('ITEM_ID', id)
    const response = await fetch(url)
    assert.equal(response.status, 200)
    assert.match(await response.text(), /<Capabilities/)
  })
})
