/**
 * Goal: with access logs of the object store, downloads count by the bytes that left, once, for the organization that owns the file:
 * not when the URL is signed, not twice when a log is found again, and not our own reads. It needs an S3 server: `test/s3/server.sh`.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { openS3Store } from '#adapters/storage/s3.ts'
import { systemClock } from '#core/clock.ts'
import count from '#domains/usage/count-downloads.task.ts'
import { newId } from '#core/ids.ts'
import { scene } from '../support/scene.ts'
import { world } from '../support/world.ts'

const BUCKET = 'groundtrack-test'
const endpoint = process.env['TEST_S3_ENDPOINT'] ?? ''
const credentials = { accessKeyId: process.env['TEST_S3_KEY'] ?? '', secretAccessKey: process.env['TEST_S3_SECRET'] ?? '' }

/** What S3 would log for a request; the server of the tests writes no logs. */
function logged(url: string, at: Date, { status, bytes }: { status: number; bytes: number }): string {
  const { pathname, search } = new URL(url)
  const [, day, month, year, clock] = /^\w+, (\d\d) (\w+) (\d+) ([\d:]+)/.exec(at.toUTCString())!
  return (
    `79a59df900b949e5 ${BUCKET} [${day}/${month}/${year}:${clock} +0000] 192.0.2.3 - 3E57427F3EXAMPLE REST.GET.OBJECT ` +
    `${pathname.slice(BUCKET.length + 2)} "GET ${pathname}${search} HTTP/1.1" ${status} - ${bytes} 2662992 70 10 "-" "curl/8.5" - ` +
    's9lzHYrFp76ZVxRcpX9= SigV4 ECDHE-RSA-AES128-GCM-SHA256 QueryString imagery.s3.amazonaws.com TLSV1.3 - -\n'
  )
}

test(
  'downloads are counted from access logs',
  { skip: endpoint === '' ? 'TEST_S3_ENDPOINT is not set: run test/s3/server.sh and set what it prints' : false },
  async (t) => {
    const client = new S3Client({ endpoint, forcePathStyle: true, region: 'us-east-1', credentials })
    t.after(() => client.destroy())
    await client.send(new CreateBucketCommand({ Bucket: BUCKET })).catch((error: Error) => {
      if (!/BucketAlready/.test(error.name)) throw error
    })
    const run = newId()
    const prefix = `logs/${run}/`
    const place = { url: `s3://${BUCKET}/egress/${run}`, endpoint, region: '', clock: systemClock, credentials }
    const storage = openS3Store({ ...place, accessLogs: { bucket: BUCKET, prefix } })
    const w = await world(t, { storage, startAt: new Date().toISOString() })
    const org = await w.organization()
    const other = await w.organization()
    const { token } = org.owner
    const bytes = await scene()
    const uploaded = await w.upload(token, org.projectId, { 'a.tif': bytes })
    const item_id = uploaded.body.item_ids[0] as string
    const egress = async (who: string) => (await w.ok(who, 'usage.current')).egress_bytes_last_24h as number
    const deliver = async (name: string, lines: string) =>
      await client.send(new PutObjectCommand({ Bucket: BUCKET, Key: `${prefix}${name}`, Body: lines }))
    const nameAt = (time: Date, unique: string) => `${time.toISOString().slice(0, 19).replaceAll(/[T:]/g, '-')}-${unique}`

    const { url } = await w.ok(token, 'items.asset.download', { item_id, asset_id: 'data' })
    assert.equal((await fetch(url)).status, 200, 'the parameter is part of the signature')
    assert.equal((await fetch(url.replace(org.id, other.id))).status, 403, 'and nobody can change whom it counts for')
    assert.equal(await egress(token), 0, 'signing counts nothing')

    const now = w.clock.now()
    const whole = logged(url, now, { status: 200, bytes: bytes.length })
    const part = logged(url, now, { status: 206, bytes: 100 })
    const forged = logged(url.replace(org.id, other.id), now, { status: 403, bytes: 300 })
    const own = logged(await storage.signGet({ bucket: 'of-its-own', key: 'y', isInternal: true, expiresInSeconds: 60 }), now, {
      status: 200,
      bytes: 7,
    })
    await deliver(nameAt(now, 'AA'), whole + forged + own)
    await deliver(nameAt(now, 'BB'), part)
    await deliver('a-note.txt', whole)
    await w.runTask(count, { max_logs: 1 })
    assert.equal(await egress(token), bytes.length, 'one log in one run')
    await w.runTask(count)
    assert.equal(await egress(token), bytes.length + 100)
    await w.runTask(count)
    assert.deepEqual([await egress(token), await egress(other.owner.token)], [bytes.length + 100, 0], 'each log once')

    await deliver(nameAt(new Date(now.getTime() - 3_600_000), 'CC'), part)
    await w.runTask(count)
    assert.equal(await egress(token), bytes.length + 200, 'a log that was delivered late')
    const rows = await w.db.selectFrom('access_log').select(['name', 'downloads', 'bytes']).orderBy('name').execute()
    assert.deepEqual(
      rows.map(({ name, ...counted }) => [name.slice(-2), counted]),
      [
        ['CC', { downloads: 1, bytes: 100 }],
        ['AA', { downloads: 1, bytes: bytes.length }],
        ['BB', { downloads: 1, bytes: 100 }],
      ],
    )

    const later = new Date(now.getTime() + 3 * 86_400_000)
    await deliver(nameAt(later, 'DD'), part)
    await w.runTask(count)
    await w.runTask(count)
    const kept = await w.db.selectFrom('access_log').select('name').execute()
    assert.deepEqual(
      kept.map(({ name }) => name.slice(-2)),
      ['DD'],
      'logs that are not listed again are forgotten',
    )
    await w.runTask(count)
    assert.equal((await w.db.selectFrom('access_log').select('name').execute()).length, 1)
  },
)
