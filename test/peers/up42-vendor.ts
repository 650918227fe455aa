/**
 * Goal: UP42's own Python client works with the simulated UP42, which our adapter is tested with: what the client understands is what
 * UP42 speaks.
 *
 * Run: npm test -- test/peers/up42-vendor.ts. UP42_PYTHON is a Python with up42-py (`.ci/requirements-up42.txt`); skips where there is
 * none.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startUp42 } from '../../sandbox/vendors/up42/server.ts'
import { features, square } from '../orders/support.ts'
import { testClock } from '../support/world.ts'

const PYTHON = process.env['UP42_PYTHON'] ?? 'python3'
const skip = spawnSync(PYTHON, ['-c', 'import up42']).status === 0 ? false : 'There is no Python with up42-py on this machine'
/** All steps together are shorter than a token lives, because the client's clock stands still. */
const STEP_SECONDS = 2
const PNG = '89504e47'

test('up42-py and the simulated UP42', { skip }, async (t) => {
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-up42-'))
  const clock = testClock('2026-11-01T00:00:00.000Z')
  const up42 = await startUp42({ clock, workDir, stepSeconds: STEP_SECONDS })
  // The client's clock is its own; the test's moves when the client says so.
  const control = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const { steps, ready } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { steps: number; ready?: string }
      if (ready) await up42.files(ready)
      clock.advance({ seconds: steps * STEP_SECONDS })
      response.end()
    })()
  })
  await new Promise<void>((resolve) => void control.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    control.close()
    await up42.close()
    rmSync(workDir, { recursive: true, force: true })
  })
  const given = {
    address: up42.url,
    auth: up42.authUrl,
    user: up42.user,
    password: up42.password,
    control: `http://127.0.0.1:${(control.address() as AddressInfo).port}`,
    box: [2.3, 48.2, 2.31, 48.21],
    features: features(square()),
  }
  const { stdout } = await promisify(execFile)(PYTHON, [path.join(import.meta.dirname, 'up42-vendor-client.py'), JSON.stringify(given)], {
    maxBuffer: 1e7,
    env: { ...process.env, UP42_DISABLE_VERSION_CHECK: 'true' },
  })
  const got = JSON.parse(stdout.trim().split('\n').at(-1)!) as Record<string, unknown>
  const gives = (name: string, expected: unknown) => t.test(name, () => assert.deepEqual(got[name], expected))

  await t.test('wrong password', () => assert.match(String(got['wrong password']), /^WrongCredentials/))
  await t.test('workspace', () => assert.match(String(got['workspace']), /^[0-9a-f-]{36}$/))
  await gives('collections', {
    names: ['capella-gec', 'phr', 'pneo', 'pneo-tasking'],
    archive: 3,
    host: 'oneatlas',
    resolution: 'VERY_HIGH',
    eula: true,
  })
  await gives('schema', ['aoi', 'id', 'radiometricProcessing'])
  await t.test('search', () => {
    const { clouds, ...rest } = got['search'] as { clouds: number }
    assert.ok(clouds <= 90, JSON.stringify(got['search']))
    assert.deepEqual(rest, { scenes: 25, collection: 'phr', producer: 'airbus', quicklook: PNG })
  })
  await t.test('invalid search', () => assert.match(String(got['invalid search']), /^InvalidSearchRequest: query: sunElevation/))
  await gives('archive order', {
    estimate: [true, 'SQ_KM', 'OrderCost'],
    order: ['CREATED', 'ARCHIVE', ['gt-python'], true, true],
    listed: true,
    elsewhere: 0,
  })
  await gives('invalid order', ['OrderError', 'Scene no such scene not found'])
  await gives('cancellation', ['CANCELED', 'CANCELED', 'CanceledOrder'])
  await gives('late cancellation', ['PLACED', 'OrderCannotBeCanceled'])
  await gives('delivery', {
    fulfilled: true,
    item: [true, true, 'phr', 'ARCHIVE'],
    archive: true,
    assets: ['cloud.geojson', 'multispectral.tiff', 'original.zip'],
    downloaded: true,
    covered: 100,
  })
  await gives('tasking', {
    placed: ['CREATED', 'FEASIBILITY_WAITING_UPLOAD', 0],
    study: ['NoDecisionOptionChosen', 'ACCEPTED', true],
    quotation: ['ACCEPTED', true, true],
    order: ['PLACED', 'QUOTATION_ACCEPTED'],
  })
  await gives('rejected quotation', ['REJECTED', 'CANCELED'])
})
