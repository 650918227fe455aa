import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '#config.ts'
import { requireFolder } from '#data-folder.ts'
import { listenProblem } from '../src/listen-problem.ts'

// Goal: a start that cannot succeed ends at once, with one line that says what is wrong and what to set.
test('starts that cannot succeed', async (t) => {
  await t.test('a port that needs a permission, an address that is not here', () => {
    const denied = listenProblem(Object.assign(new Error('listen'), { code: 'EACCES' }), 'PORT', '127.0.0.1', 80)
    assert.ok(denied instanceof ConfigError)
    assert.match(denied.message, /not allowed to listen on port 80.*Set PORT to a port from 1024/)
    const elsewhere = listenProblem(Object.assign(new Error('listen'), { code: 'EADDRNOTAVAIL' }), 'PORT', '192.0.2.1', 8080)
    assert.match((elsewhere as Error).message, /192\.0\.2\.1 is not an address of this machine/)
    const other = new Error('anything else')
    assert.equal(listenProblem(other, 'PORT', '127.0.0.1', 80), other)
  })

  await t.test('a data folder where none can be created', () => {
    assert.throws(
      () => requireFolder({ dataDir: '/proc/x/y', databaseUrl: '' }),
      /DATA_DIR \/proc\/x\/y cannot be used: .*Set DATA_DIR to another folder/,
    )
  })
})
