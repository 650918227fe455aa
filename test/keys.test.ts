// Goal: an operator replaces the signing key and the store's secret while the service runs; what was signed before stays valid for a
// while, unless it leaked.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { test } from 'node:test'
import { signRequest } from '#adapters/storage/signature.ts'
import { startStoreListener } from '#adapters/storage/listener.ts'
import { openFileStore } from '#adapters/storage/files.ts'
import { createTokens } from '#access/tokens.ts'
import { DAY_MS } from '#core/time.ts'
import { newId } from '#core/ids.ts'
import { openDatabase } from '#db/open.ts'
import { migrate } from '#db/migrate.ts'
import { createLog } from '#http/log.ts'
import * as signingKeys from '#model/identity/signing-key.ts'
import { rotatedSecretOf, rotateSecret, secretOf } from '#model/platform/secret.ts'
import { tempFolder, testClock } from '#adapters/storage/testing/place.ts'
import { createDatabase } from './support/database.ts'

const root = path.dirname(import.meta.dirname)

test('npm run keys', async (t) => {
  const own = await createDatabase()
  const { db, close } = openDatabase(own.url, { maxConnections: 2 })
  t.after(async () => {
    await close()
    await own.drop()
  })
  await migrate(db)
  const { PATH = '', HOME = '', TMPDIR = '', NODE_COMPILE_CACHE = '' } = process.env
  const run = (...args: string[]) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      const env = { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, DATABASE_URL: own.url }
      execFile(process.execPath, ['tools/keys.ts', ...args], { cwd: root, env }, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr })
      })
    })
  const claims = { typ: 'session', userId: newId(), sessionId: newId(), organizationId: null } as const
  const now = () => new Date()
  /** As another process would, with nothing cached. */
  const tokens = () => createTokens(db, { now })

  await t.test('a token of the key before is accepted, until it is said to have leaked', async () => {
    const before = await tokens().sign(claims, 600)
    assert.equal((await run('rotate', 'signing')).code, 0)
    const after = await tokens().sign(claims, 600)
    assert.ok((await tokens().verify(before)) && (await tokens().verify(after)))
    assert.match((await run('rotate', 'signing', '--leaked')).stdout, /Restart every process/)
    assert.equal(await tokens().verify(before), null)
    assert.equal(await tokens().verify(after), null)
  })

  await t.test('a replaced key is removed two days later, and the current one never', async () => {
    assert.equal((await run('rotate', 'signing')).code, 0)
    const created = await signingKeys.list(db, now())
    assert.equal(created.length, 2)
    await signingKeys.rotate(db, new Date(Date.now() + DAY_MS))
    assert.equal((await signingKeys.list(db, now())).length, 2)
    await signingKeys.rotate(db, new Date(Date.now() + 3 * DAY_MS))
    assert.deepEqual(
      (await signingKeys.list(db, now())).map(({ kid }) => kid),
      [created[0]!.kid],
    )
  })

  await t.test('the secret of the store has a predecessor for as long as URLs can be valid', async () => {
    const first = await secretOf(db, 'storage', now())
    assert.equal((await run('rotate', 'store')).code, 0)
    const { current, previous } = await rotatedSecretOf(db, 'storage', now(), 60)
    assert.ok(!current.equals(first))
    assert.deepEqual(previous, first)
    assert.equal((await rotatedSecretOf(db, 'storage', new Date(Date.now() + 61_000), 60)).previous, null)
    assert.equal((await run('rotate', 'store', '--leaked')).code, 0)
    const leaked = await rotatedSecretOf(db, 'storage', now(), 60)
    assert.ok(![leaked.current, leaked.previous].some((secret) => secret?.equals(first) || secret?.equals(current)))
  })

  await t.test('a mistake shows the usage', async () => {
    for (const args of [[], ['rotate'], ['rotate', 'other'], ['rotate', 'store', '--all']]) {
      const { code, stderr } = await run(...args)
      assert.equal(code, 1)
      assert.match(stderr, /Usage: npm run keys/)
    }
  })
})

test('the listener of the store accepts the secret before, and one that another process has just created', async (t) => {
  const folder = await tempFolder(t)
  const clock = testClock()
  const [first, second, third] = [randomBytes(32), randomBytes(32), randomBytes(32)]
  let known = { current: second, previous: first as Buffer | null }
  let refreshed = 0
  const secrets = {
    current: () => known.current,
    previous: () => known.previous,
    refresh: async () => {
      refreshed++
      known = { current: third, previous: second }
    },
  }
  const store = await openFileStore({ root: folder, publicUrl: () => '', secrets, clock })
  const log = createLog('silent')
  const listener = await startStoreListener({ store, host: '127.0.0.1', port: 0, secrets, clock, log })
  t.after(() => listener.close(0))
  await store.createBucket('project-1')
  await store.put({ bucket: 'project-1', key: 'a.txt' }, Buffer.from('content'), { contentType: 'text/plain' })
  const get = async (secret: Buffer) => {
    const expires = Math.floor(clock.now().getTime() / 1_000) + 60
    const request = {
      bucket: 'project-1',
      key: 'a.txt',
      method: 'GET',
      contentType: null,
      maxBytes: null,
      fileName: null,
      countFor: null,
      part: null,
    } as const
    return (await fetch(`http://127.0.0.1:${listener.port}${signRequest(secret, { ...request, expires })}`)).status
  }
  assert.deepEqual([await get(second), await get(first), refreshed], [200, 200, 0])
  assert.deepEqual([await get(third), refreshed], [200, 1])
  assert.equal(await get(first), 403, 'the one before the one before has ended')
})

test('rotation of a secret that was never used creates it', async (t) => {
  const own = await createDatabase()
  const { db, close } = openDatabase(own.url, { maxConnections: 1 })
  t.after(async () => {
    await close()
    await own.drop()
  })
  await migrate(db)
  await rotateSecret(db, 'new', new Date())
  assert.equal((await rotatedSecretOf(db, 'new', new Date(), 60)).previous, null)
})
