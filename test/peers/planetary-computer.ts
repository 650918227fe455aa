/**
 * Goal: Microsoft's `planetary-computer` client works at our simulated signing service and STAC API as at the real ones, so that what
 * our own adapter is tested against is the real protocol.
 *
 * Run: npm test -- test/peers/planetary-computer.ts. PEER_PYTHON is a Python with planetary-computer and pystac-client
 * (`.ci/requirements.txt`); skips where there is none.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { DAY_MS } from '#core/time.ts'
import { startOpenHosts } from '../../sandbox/vendors/open-hosts/server.ts'

const PYTHON = process.env['PEER_PYTHON'] ?? 'python3'
const skip =
  spawnSync(PYTHON, ['-c', 'import planetary_computer, pystac_client']).status === 0
    ? false
    : 'There is no Python with planetary-computer and pystac-client on this machine'

test("Microsoft's client at the simulated Planetary Computer", { skip }, async (t) => {
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-peer-'))
  // The client compares expiry times with the machine's clock.
  const hosts = await startOpenHosts({ clock: { now: () => new Date() }, workDir })
  t.after(async () => {
    await hosts.close()
    rmSync(workDir, { recursive: true, force: true })
  })
  hosts.sas.limit(1, 1) // The client waits and asks again.
  const interval = `${new Date(Date.now() - 120 * DAY_MS).toISOString()}/${new Date().toISOString()}`
  const script = new URL('./planetary-computer.py', import.meta.url).pathname
  const env = { ...process.env, PC_SDK_SAS_URL: `${hosts.url}/planetary-computer/api/sas/v1/token`, HOME: workDir }
  const { stdout } = await promisify(execFile)(PYTHON, [script, hosts.url, interval], { env })
  const said = JSON.parse(stdout)
  assert.equal(hosts.sas.issued, 1, 'one token for each container, which the client keeps')
  assert.equal(said.is_cached, true)
  assert.equal(said.signed, `https://sentinel2l2a01.blob.core.windows.net/sentinel2-l2/scene/B04.tif?${said.token}`)
  assert.equal(said.is_signed_once, true)
  assert.ok(Date.parse(said.expiry) > Date.now())
  assert.equal(said.ids.length, 12)
  assert.equal(new Set(said.ids).size, 12, 'pages follow each other')
  assert.ok(said.cloud.every((percent: number) => percent < 60))
  const read = (url: string) => fetch(url, { headers: { range: 'bytes=0-15' } })
  assert.equal((await read(`${said.red}?${said.token}`)).status, 206, "the storage accepts the client's token")
  assert.equal((await read(said.red)).status, 409)
  assert.equal((await read(`${said.red}?${said.token.replace(/sig=[^&]{4}/, 'sig=AAAA')}`)).status, 403)
})
