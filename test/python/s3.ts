/**
 * Run: PYTHON_CLIENT=venv/bin/python npm test -- test/python/s3.ts, with the settings that `test/s3/server.sh start` prints.
 */
import { test } from 'node:test'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { newId } from '#core/ids.ts'
import { accountOf, createAccount, pytest, WITHOUT_PYTHON, writeFiles } from '../support/pytest.ts'
import { openLab } from '../support/service.ts'

const s3 = {
  endpoint: process.env['TEST_S3_ENDPOINT'] ?? '',
  key: process.env['TEST_S3_KEY'] ?? '',
  secret: process.env['TEST_S3_SECRET'] ?? '',
}
const withoutS3 = s3.endpoint === '' ? 'TEST_S3_ENDPOINT is not set: run test/s3/server.sh and set what it prints' : false
const BUCKET = 'groundtrack-python'

async function makeBucket(): Promise<void> {
  const credentials = { accessKeyId: s3.key, secretAccessKey: s3.secret }
  const client = new S3Client({ endpoint: s3.endpoint, forcePathStyle: true, region: 'us-east-1', credentials })
  await client.send(new CreateBucketCommand({ Bucket: BUCKET })).catch((error: Error) => {
    if (!/BucketAlready/.test(error.name)) throw error
  })
  client.destroy()
}

// Goal: the Python client resumes and verifies transfers of files that the service stores in S3.
test('the Python client on S3', { skip: WITHOUT_PYTHON || withoutS3 }, async (t) => {
  const lab = openLab()
  t.after(() => lab.close())
  await makeBucket()
  const env = { S3_ENDPOINT: s3.endpoint, AWS_ACCESS_KEY_ID: s3.key, AWS_SECRET_ACCESS_KEY: s3.secret }
  const storage = { STORAGE_URL: `s3://${BUCKET}/${newId()}`, ...env }
  const { baseUrl } = await lab.start({ env: { DATA_DIR: lab.dataDir(), ...storage } })
  await createAccount(baseUrl, 's3')
  t.diagnostic(await pytest(['s3_transfers.py'], { ...(await writeFiles(lab.dataDir())), ...accountOf(baseUrl, 's3') }))
})
