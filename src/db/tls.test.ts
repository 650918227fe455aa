// Goal: with `sslmode=verify-full`, a server is used only if it has a certificate for its name from the given authority; anything else
// stops the start at once, with the reason.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { startServerPostgres } from '../../test/support/server-postgres.ts'
import { STANDARD_POOL, STANDARD_SEARCH_POOL } from '#core/database-pool.ts'
import { DatabaseUnreachable, openServiceDatabase } from './service-database.ts'

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

/** A certificate authority, and a certificate of it for `localhost`. */
function issue(t: TestContext): { dir: string; ca: string; otherCa: string } {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'groundtrack-tls-'))
  t.after(() => fs.rmSync(dir, { recursive: true, force: true }))
  fs.chmodSync(dir, 0o755)
  const at = (name: string) => path.join(dir, name)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  for (const name of ['ca', 'other'])
    openssl('req', '-x509', ...key, '-keyout', at(`${name}.key`), '-out', at(`${name}.crt`), '-subj', `/CN=${name}`)
  fs.writeFileSync(at('names'), 'subjectAltName=DNS:localhost')
  openssl('req', ...key.slice(0, -2), '-keyout', at('server.key'), '-out', at('server.csr'), '-subj', '/CN=localhost')
  const signing = ['-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-CAcreateserial', '-extfile', at('names'), '-days', '2']
  openssl('x509', '-req', '-in', at('server.csr'), ...signing, '-out', at('server.crt'))
  return { dir, ca: at('ca.crt'), otherCa: at('other.crt') }
}

test('a database with TLS', { skip: !hasOpenssl && 'no openssl' }, async (t) => {
  const { dir, ca, otherCa } = issue(t)
  const server = await startServerPostgres({
    settings: ['ssl=on', `ssl_cert_file=${dir}/server.crt`, `ssl_key_file=${dir}/server.key`, 'listen_addresses=127.0.0.1'],
    files: [`${dir}/server.key`],
  })
  if (!server) return t.skip('no PostgreSQL server is installed')
  t.after(() => server.stop())
  await server.createDatabase('secured')
  const pools = { databasePool: STANDARD_POOL, databaseSearchPool: STANDARD_SEARCH_POOL, databasePooler: '' }
  const open = (host: string, authority: string) => {
    const tls = `sslmode=verify-full&sslrootcert=${encodeURIComponent(authority)}`
    const databaseUrl = `postgres://postgres@${host}:${server.port}/secured?${tls}`
    return openServiceDatabase({ ...pools, dataDir: dir, databaseUrl, databaseDirectUrl: databaseUrl })
  }

  await t.test('is used with the right name and authority, over TLS', async () => {
    const database = await open('localhost', ca)
    try {
      const { rows } = await sql<{ ssl: boolean }>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`.execute(database.db)
      assert.deepEqual(rows, [{ ssl: true }])
    } finally {
      await database.close()
    }
  })

  await t.test('is not used under another name', async () => {
    await assert.rejects(open('127.0.0.1', ca), (error) => error instanceof DatabaseUnreachable && /altnames/.test(error.message))
  })

  await t.test('is not used with a certificate of another authority', async () => {
    await assert.rejects(open('localhost', otherCa), (error) => error instanceof DatabaseUnreachable && /certificate/.test(error.message))
  })
})
