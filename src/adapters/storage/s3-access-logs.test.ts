/** Goal: of S3's access logs, exactly the bytes of downloads that we signed count, for the organization that they were signed for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { S3Client } from '@aws-sdk/client-s3'
import { openAccessLogs, parseEntry } from './s3-access-logs.ts'

const ORG = '0199f2c4-5c1a-7b3e-9a44-0d6f3c1b2a10'
const SIGNED = `GET /imagery/svc-1/a.tif?X-Amz-Date=20260301T090000Z&x-groundtrack-for=${ORG}&X-Amz-Signature=ab HTTP/1.1`

interface Entry {
  bucket?: string
  operation?: string
  request?: string
  status?: string
  bytes?: string
  time?: string
}

/** As in the documentation of S3, with the fields that follow the ones that count. */
const entry = ({
  bucket = 'imagery',
  operation = 'REST.GET.OBJECT',
  request = SIGNED,
  status = '200',
  bytes = '1234',
  time = '01/Mar/2026:23:59:58 +0000',
}: Entry) =>
  `79a59df900b949e5 ${bucket} [${time}] 192.0.2.3 - 3E57427F3EXAMPLE ${operation} svc-1/a.tif "${request}" ${status} - ${bytes} 2662992 ` +
  '70 10 "-" "curl/8.5" - s9lzHYrFp76ZVxRcpX9= SigV4 ECDHE-RSA-AES128-GCM-SHA256 QueryString imagery.s3.amazonaws.com TLSV1.3 - -'

test('a signed download counts for its organization, at its time', () => {
  assert.deepEqual(parseEntry(entry({}), 'imagery'), { organizationId: ORG, at: new Date('2026-03-01T23:59:58Z'), bytes: 1234 })
  assert.equal(parseEntry(entry({ status: '206', bytes: '5' }), 'imagery')?.bytes, 5)
  assert.deepEqual(parseEntry(entry({ time: '02/Mar/2026:01:00:00 +0200' }), 'imagery')?.at, new Date('2026-03-01T23:00:00Z'))
})

test('nothing else counts', () => {
  for (const other of [
    entry({ bucket: 'other' }),
    entry({ operation: 'REST.PUT.PART' }),
    entry({ operation: 'REST.HEAD.OBJECT' }),
    entry({ status: '403' }),
    entry({ status: '304', bytes: '-' }),
    entry({ bytes: '-' }),
    entry({ request: 'GET /imagery/svc-1/a.tif?X-Amz-Date=20260301T090000Z HTTP/1.1' }),
    entry({ request: SIGNED.replace(ORG, 'everybody') }),
    entry({ time: 'yesterday' }),
    '',
    'a line that was cut',
  ])
    assert.equal(parseEntry(other, 'imagery'), null, other)
})

test('names of logs sort by the time of delivery', () => {
  const logs = openAccessLogs(new S3Client({ region: 'us-east-1' }), { bucket: 'logs', prefix: 'imagery/' }, 'imagery')
  assert.equal(logs.nameAt(new Date('2026-03-01T09:05:07.123Z')), 'imagery/2026-03-01-09-05-07')
  assert.deepEqual(logs.timeOf('imagery/2026-03-01-09-05-07-AB12'), new Date('2026-03-01T09:05:07Z'))
  assert.deepEqual([logs.timeOf('imagery/readme.txt'), logs.timeOf('other/2026-03-01-09-05-07-AB12')], [null, null])
})
