// Goal: `npm run migrate` shows what is applied and pending, and applies it; a mistake in its arguments shows how to use it.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import path from 'node:path'
import { test } from 'node:test'
import { MIGRATIONS } from '#db/migrate.ts'
import { createEmptyDatabase } from '../test/support/database.ts'
import { statementsOf } from './migration-sql.ts'

const root = path.dirname(import.meta.dirname)
const LAST = Object.keys(MIGRATIONS).toSorted().at(-1)!

test('npm run migrate', async (t) => {
  const own = await createEmptyDatabase()
  t.after(own.drop)
  const { PATH = '', HOME = '', TMPDIR = '', NODE_COMPILE_CACHE = '' } = process.env
  const env = { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, DATABASE_URL: own.url }
  const run = (...args: string[]) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      execFile(process.execPath, ['tools/migrate.ts', ...args], { cwd: root, env }, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr })
      })
    })

  await t.test('--plan prints the SQL and changes nothing', async () => {
    const { code, stdout, stderr } = await run('--plan')
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^-- 0001_identity \(expand\)\n/)
    assert.match(stdout, /create table event_epoch/)
    assert.match((await run('--status')).stdout, /^Applied: 0, the last one none\nPending: 0001_identity \(expand\), /)
  })

  await t.test('--expand applies, and says so', async () => {
    assert.match((await run('--expand')).stdout, new RegExp(`^Applied 0001_identity, .*${LAST}\\n$`))
    assert.equal((await run('--expand')).stdout, 'Nothing to apply.\n')
    assert.equal(
      (await run('--status')).stdout,
      `Applied: ${Object.keys(MIGRATIONS).length}, the last one ${LAST}\n` +
        'Pending: none\nOf later versions: none\nOldest version that can start: one that contains 0042_audit_counts\n',
    )
    assert.equal((await run('--plan')).stdout, 'Nothing is pending.\n')
  })

  await t.test('anything else shows the usage', async () => {
    for (const args of [[], ['--expand', '--contract'], ['--everything']]) {
      const { code, stderr } = await run(...args)
      assert.equal(code, 1)
      assert.match(stderr, /Usage: npm run migrate/)
    }
  })
})

test('the SQL of every migration can be read without a database', async () => {
  for (const migration of Object.values(MIGRATIONS)) assert.ok((await statementsOf(migration)).length > 0)
})
