/** Goal: the configuration selects the store, and users of the file store do not pay for S3. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { openStorage } from './open.ts'
import { tempFolder, testClock } from './testing/place.ts'
import { fixedSecret } from './signature.ts'

test('default: files under DATA_DIR, with URLs of the listener; s3:// selects that service', async (t) => {
  const dataDir = await tempFolder(t)
  const settings = {
    storageUrl: '',
    s3Endpoint: '',
    s3PublicEndpoint: '',
    s3Encryption: null,
    s3AccessLogs: null,
    s3Region: '',
    s3Credentials: null,
    dataDir,
    publicUrl: () => 'https://store.example',
    secrets: fixedSecret(randomBytes(32)),
    clock: testClock(),
  }
  const at = { bucket: 'project-1', key: 'a.tif' }
  const files = await openStorage(settings)
  assert.equal(files.kind, 'files')
  assert.ok((await stat(path.join(dataDir, 'objects'))).isDirectory())
  assert.match(await files.signGet({ ...at, expiresInSeconds: 60 }), /^https:\/\/store\.example\/objects\/project-1\/a\.tif\?method=GET&/)
  for (const [storageUrl, address] of [
    ['s3://imagery', 's3://imagery/project-1/a.tif'],
    ['s3://imagery/x/y/', 's3://imagery/x/y/project-1/a.tif'],
  ] as const) {
    const s3 = await openStorage({ ...settings, storageUrl, s3Region: 'eu-north-1' })
    assert.deepEqual([s3.kind, s3.uriOf(at)], ['s3', address])
    await s3.close()
  }
})

test('the S3 client is not loaded until it is needed', () => {
  const script =
    "await import('#adapters/storage/open.ts'); await import('#adapters/storage/listener.ts'); const { default: " +
    "modules } = await import('node:module'); process.stdout.write(String(Object.keys(modules._cache).some((file) => " +
    "file.includes('@aws-sdk'))))"
  const root = path.join(import.meta.dirname, '../../..')
  assert.equal(execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: root, encoding: 'utf8' }), 'false')
  const control = script.replace("await import('#adapters/storage/listener.ts')", "await import('#adapters/storage/s3.ts')")
  assert.equal(execFileSync(process.execPath, ['--input-type=module', '-e', control], { cwd: root, encoding: 'utf8' }), 'true')
})
