// Goal: `/ready` follows what calls depend on, but not a single failure; on SIGTERM a process serves on while load balancers notice.
import assert from 'node:assert/strict'
import http from 'node:http'
import { test } from 'node:test'
import { createReadiness, type Probe } from '#background/readiness.ts'
import { createDatabase } from './support/database.ts'
import { databaseProxy } from './support/database-proxy.ts'
import { openLab, until } from './support/service.ts'

test('readiness needs two results in a row to change', async () => {
  let isUp = true
  const probe: Probe = {
    name: 'The database',
    label: 'database',
    timeoutMs: 1_000,
    everyRounds: 1,
    run: async () => {
      if (!isUp) throw new Error('refused')
    },
  }
  const lines: string[] = []
  const readiness = createReadiness([probe], (line) => lines.push(line))
  const after = async (...results: boolean[]) => {
    for (isUp of results) await readiness.round()
    return readiness.reason()
  }
  assert.equal(await after(true, false, true, false), null, 'single failures do not count')
  assert.equal(await after(false), 'The database does not respond')
  assert.equal(await after(true, false, true), 'The database does not respond', 'nor do single successes')
  assert.equal(await after(true), null)
  assert.deepEqual(lines, ['Not ready: The database does not respond (refused)', 'Ready again: The database responds'])
})

test('a probe that never ends fails at its deadline, and one that is rare runs at once while it fails', async () => {
  let runs = 0
  const hung: Probe = {
    name: 'The object store',
    label: 'object_store',
    timeoutMs: 5,
    everyRounds: 100,
    run: () => (runs++, new Promise(() => {})),
  }
  const readiness = createReadiness([hung], () => {})
  await readiness.round()
  await readiness.round()
  assert.equal(readiness.reason(), 'The object store does not respond')
  assert.equal(runs, 2)
})

test('a service whose database disappears is not ready until it is back', async (t) => {
  const own = await createDatabase()
  const lab = openLab()
  t.after(async () => {
    await lab.close()
    await own.drop()
  })
  const proxy = await databaseProxy(t, own.url)
  const service = await lab.start({ env: { DATABASE_URL: proxy.url, DATA_DIR: lab.dataDir(), DEMO: '0' } })
  const status = async (path: string) => (await fetch(`${service.baseUrl}${path}`)).status
  assert.equal(await status('/ready'), 200)
  proxy.cut()
  await until('not ready', async () => (await status('/ready')) === 503)
  assert.equal(await status('/health'), 200)
  proxy.accept()
  await until('ready', async () => (await status('/ready')) === 200)
  assert.match(service.output(), /Not ready: The database does not respond/)
})

test('on SIGTERM a service drains: not ready, but serving, and closing its connections one by one', async (t) => {
  const own = await createDatabase()
  const lab = openLab()
  t.after(async () => {
    await lab.close()
    await own.drop()
  })
  const service = await lab.start({ env: { DATABASE_URL: own.url, DATA_DIR: lab.dataDir(), DEMO: '0', DRAIN_SECONDS: '3' } })
  const agent = new http.Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const get = (path: string) =>
    new Promise<http.IncomingMessage>((resolve, reject) => {
      http.get(`${service.baseUrl}${path}`, { agent }, (response) => resolve(response.resume())).on('error', reject)
    })
  assert.equal((await get('/v1/limits')).headers.connection, 'keep-alive')
  process.kill(service.pid, 'SIGTERM')
  const unready = await until('not ready', async () => {
    const response = await get('/ready')
    return response.statusCode === 503 ? response : null
  })
  assert.equal(unready.headers.connection, 'close')
  const served = await get('/v1/limits')
  assert.deepEqual([served.statusCode, served.headers.connection], [200, 'close'])
  assert.deepEqual(await service.exited, { code: 0, signal: null })
})
