import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { ConfigError } from '#core/settings.ts'
import { requireFolder } from '#start/data-folder.ts'
import { listenProblem } from '#start/listen-problem.ts'
import { openLab } from './support/service.ts'

const attempt = (host: string, port: number) => ({ setting: 'PORT', host, port, dataDir: '/nowhere' })

// Goal: a start that cannot succeed ends at once, with one line that says what is wrong and what to set.
test('starts that cannot succeed', async (t) => {
  await t.test('a privileged port, and an address of another machine', () => {
    const denied = listenProblem(Object.assign(new Error('listen'), { code: 'EACCES' }), attempt('127.0.0.1', 80))
    assert.ok(denied instanceof ConfigError)
    assert.match(denied.message, /not allowed to listen on port 80.*Set PORT to a port from 1024/)
    const elsewhere = listenProblem(Object.assign(new Error('listen'), { code: 'EADDRNOTAVAIL' }), attempt('192.0.2.1', 8080))
    assert.match((elsewhere as Error).message, /192\.0\.2\.1 is not an address of this machine/)
    const other = new Error('anything else')
    assert.equal(listenProblem(other, attempt('127.0.0.1', 80)), other)
  })

  await t.test('a data folder where none can be created', () => {
    assert.throws(
      () => requireFolder({ dataDir: '/proc/x/y', databaseUrl: '' }),
      /DATA_DIR \/proc\/x\/y cannot be used: .*Set DATA_DIR to another folder/,
    )
  })

  await t.test('a second service on the same folder and port: names the running one', async (t) => {
    const lab = openLab()
    t.after(() => lab.close())
    const dataDir = lab.dataDir()
    const first = await lab.start({ env: { DATA_DIR: dataDir, DEMO: '0' } })
    const second = lab.spawn({ env: { DATA_DIR: dataDir, DEMO: '0', PORT: new URL(first.baseUrl).port } })
    assert.equal((await second.exited).code, 1)
    assert.equal(
      second.output(),
      `Groundtrack is already running with DATA_DIR ${dataDir}: process ${first.pid} at ${first.baseUrl}. ` +
        `Use that one, or stop it first (Ctrl-C where it runs, or kill ${first.pid}).\n`,
    )
    assert.equal((await first.kill('SIGTERM')).code, 0)
    assert.deepEqual(fs.readdirSync(path.join(dataDir, 'running')), [])
  })
})
