/**
 * Goal: Planet's own client works at our simulated Data and Orders APIs as at the real ones, so that what our adapter is tested against
 * is the real protocol.
 *
 * Run: npm test -- test/peers/planet.ts. PEER_PYTHON is a Python with planet (`.ci/requirements.txt`); skips where there is none.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { DAY_MS } from '#core/time.ts'
import { startPlanet } from '../../sandbox/vendors/planet/server.ts'
import { square } from '../orders/support.ts'

const PYTHON = process.env['PEER_PYTHON'] ?? 'python3'
const skip = spawnSync(PYTHON, ['-c', 'import planet']).status === 0 ? false : "There is no Python with Planet's client on this machine"

test("Planet's client at the simulated APIs", { skip }, async (t) => {
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-peer-'))
  const planet = await startPlanet({ clock: { now: () => new Date() }, workDir, stepSeconds: 1, pageSize: 20 })
  t.after(async () => {
    await planet.close()
    rmSync(workDir, { recursive: true, force: true })
  })
  planet.faults.limited = 1 // The client waits and asks again.
  const script = new URL('./planet-client.py', import.meta.url).pathname
  const folder = path.join(workDir, 'downloads')
  const given = { area: square(), from: new Date(Date.now() - 90 * DAY_MS).toISOString().replace('Z', '+00:00') }
  const env = { ...process.env, HOME: workDir }
  const { stdout } = await promisify(execFile)(PYTHON, [script, planet.url, planet.key, folder, JSON.stringify(given)], { env })
  const said = JSON.parse(stdout)
  t.diagnostic(`planet ${said.version}`)
  assert.equal(said.ids.length, 50, 'of more than one page')
  assert.equal(new Set(said.ids).size, 50, 'pages follow each other')
  assert.deepEqual(said.acquired, said.acquired.toSorted().toReversed())
  assert.ok(said.cloud.every((fraction: number) => fraction <= 0.9))
  assert.equal(said.oldest.length, 3)
  assert.ok(!said.ids.slice(0, 3).includes(said.oldest[0]))
  assert.equal(said.item, said.ids[0])
  assert.equal(said.assets.ortho_analytic_8b_sr, 'inactive')
  assert.equal(said.unknown_item[0], 'MissingResource')
  assert.deepEqual([said.created, said.cancelled, said.named, said.none], [['queued', 'first'], 'cancelled', true, []])
  assert.match(said.cancelled_again.join(), /Conflict.*cancellable state/)
  assert.match(said.bad_item.join(), /BadQuery.*doesn't exist/)
  assert.equal(said.stats.organization.queued_orders + said.stats.organization.running_orders, 1)
  assert.deepEqual([said.state, said.states.filter((state: string) => state !== 'queued')], ['success', ['running', 'success']])
  const name = `${said.order}/PSScene/${said.ids[0]}`
  assert.deepEqual(said.files, [
    `${name}_3B_AnalyticMS_SR_8b_clip_file_format.tif`,
    `${name}_3B_AnalyticMS_metadata_clip.xml`,
    `${name}_metadata.json`,
    `${name}_udm2_clip_file_format.tif`,
    `${said.order}/manifest.json`,
  ])
  assert.equal(said.wrong_key[0], 'InvalidAPIKey')
  assert.equal(planet.orders.length, 2)
  assert.ok(
    planet.fileHeaders.every((headers) => !('authorization' in headers)),
    'the storage never sees the key',
  )
})
