// Goal: `npm run config -- check` shows what a start would use without showing secrets, and fails with what to change.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { createEmptyDatabase } from '../test/support/database.ts'

const root = path.dirname(import.meta.dirname)
const CLI = path.join(root, 'packages/cli/bin/groundtrack.mjs')

test('npm run config', async (t) => {
  const own = await createEmptyDatabase()
  t.after(own.drop)
  const folder = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-config-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { PATH = '', HOME = '', TMPDIR = '', NODE_COMPILE_CACHE = '' } = process.env
  const run = (program: string, args: readonly string[], settings: Record<string, string>) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      const env = { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, DATA_DIR: folder, ...settings }
      execFile(process.execPath, [program, ...args], { cwd: root, env }, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr })
      })
    })
  const check = (settings: Record<string, string>) => run('tools/config.ts', ['check'], settings)

  await t.test('the defaults are fine, and nothing is created', async () => {
    const { code, stdout } = await check({})
    assert.equal(code, 0)
    assert.match(stdout, /✓ SOURCES: the built-in registry\n[\s\S]*✓ Database: embedded, in .*\n {2}✓ Object store: files in /)
  })

  await t.test('a secret is named with its origin, never shown; the command line does the same', async () => {
    const file = path.join(folder, 'database')
    writeFileSync(file, `${own.url}\n`)
    for (const { code, stdout, stderr } of [
      await check({ DATABASE_URL_FILE: file, METRICS_TOKEN: 'a-token-of-more-than-twenty' }),
      await run(CLI, ['config', 'check'], { DATABASE_URL_FILE: file, METRICS_TOKEN: 'a-token-of-more-than-twenty' }),
    ]) {
      assert.equal(code, 0, stdout + stderr)
      assert.match(stdout, /DATABASE_URL = \(secret\), from .*database\n/)
      assert.match(stdout, /✓ Database: responds/)
      assert.doesNotMatch(stdout, /postgres:|a-token/)
    }
  })

  await t.test('what cannot be used is named, and the exit code is 1', async () => {
    const sources = path.join(folder, 'sources.json')
    writeFileSync(sources, '{')
    const unusable = await check({
      SOURCES: sources,
      DATABASE_URL: 'postgres://gt:hidden@127.0.0.1:9/none',
      METRICS_TOKEN: 'short',
    })
    assert.equal(unusable.code, 1)
    assert.match(unusable.stdout, /✗ SOURCES: /)
    assert.match(unusable.stdout, /✗ Database: DATABASE_URL: /)
    assert.match(unusable.stdout, /✗ Unsafe: METRICS_TOKEN: too easy to guess/)
    assert.doesNotMatch(unusable.stdout, /hidden/)
    const invalid = await check({ PORT: 'x' })
    assert.deepEqual([invalid.code, invalid.stderr], [1, "PORT must be an integer from 0 to 65535, not 'x'\n"])
    assert.match((await run('tools/config.ts', [], {})).stderr, /^Usage: npm run config/)
  })

  await t.test('the command line also shows migrations', async () => {
    const { code, stdout, stderr } = await run(CLI, ['migrate', '--status'], { DATABASE_URL: own.url })
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^Applied: 0, the last one none\n/)
  })
})
