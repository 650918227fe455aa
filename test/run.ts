/**
 * Runs the checks, then every test, on a throw-away PostgreSQL: the embedded one, or with DATABASE_URL a server that lets
 * us create databases. Arguments name test files or folders; without any, everything is run.
 */
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { startEmbedded, SUPERUSER } from '#db/embedded.ts'
import { createTemplate, dropDatabase } from './support/database.ts'

const root = path.dirname(import.meta.dirname)
const CONCURRENCY = Math.max(2, os.availableParallelism())

const named = process.argv.slice(2)
const files =
  named.length > 0
    ? named.flatMap((name) => (statSync(name).isDirectory() ? globSync(`${name}/**/*.test.ts`) : [name]))
    : globSync(['src/**/*.test.ts', 'test/**/*.test.ts', 'tools/**/*.test.ts', 'sandbox/**/*.test.ts'], { cwd: root }).toSorted()

if (named.length === 0) {
  const check = spawnSync(process.execPath, ['tools/check.ts'], { cwd: root, stdio: 'inherit' })
  if (check.status !== 0) process.exit(check.status ?? 1)
}

const dataDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-test-'))
const given = process.env['DATABASE_URL']
const server = given
  ? null
  : await startEmbedded(dataDir, { settings: ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=200'] })
const adminUrl = given ?? `postgres://${SUPERUSER}@localhost/postgres?host=${encodeURIComponent(server!.socketDir)}`
let status = 1
let template: string | null = null
try {
  template = await createTemplate(adminUrl)
  const args = ['--test', `--test-concurrency=${CONCURRENCY}`, '--test-timeout=300000', ...files]
  const env = { ...process.env, DATABASE_URL: '', TEST_ADMIN_URL: adminUrl, TEST_TEMPLATE: template }
  status = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env }).status ?? 1
} finally {
  if (template) await dropDatabase(adminUrl, template)
  await server?.leave()
  rmSync(dataDir, { recursive: true, force: true })
}
process.exit(status)
