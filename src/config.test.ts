/** Goal: where objects are stored and served follows from the environment, and a mistake there is told before anything starts. */
import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'
import { ConfigError, loadConfig } from './config.ts'
import { findings } from '#start/doctor.ts'

test('payments are the sandbox, the processor with its key, or none', () => {
  assert.deepEqual([loadConfig({}).payments, loadConfig({}).sandboxPaymentsPort], ['sandbox', 0])
  assert.equal(loadConfig({ PAYMENTS: 'stripe', STRIPE_SECRET_KEY: 'sk_test_x' }).stripeSecretKey, 'sk_test_x')
  assert.equal(loadConfig({ PAYMENTS: 'none' }).payments, 'none')
  for (const env of [{ PAYMENTS: 'stripe' }, { PAYMENTS: 'cash' }, { SANDBOX_PAYMENTS_PORT: '-1' }])
    assert.throws(() => loadConfig(env), ConfigError, JSON.stringify(env))
})

test('local means that HOST and the host of BASE_URL are both loopback, and what trusts the machine follows from it', () => {
  for (const env of [
    {},
    { HOST: 'localhost' },
    { HOST: '::1' },
    { HOST: '127.9.9.9', BASE_URL: 'http://[::1]:80' },
    { BASE_URL: 'http://localhost' },
  ]) {
    const { isLocal, payments, sandbox } = loadConfig(env)
    assert.deepEqual([isLocal, payments, sandbox], [true, 'sandbox', true], JSON.stringify(env))
  }
  for (const env of [
    { HOST: '0.0.0.0' },
    { HOST: '::' },
    { BASE_URL: 'https://imagery.example' },
    { BASE_URL: 'http://127.0.0.1.evil.example' },
    { BASE_URL: 'http://localhost.evil.example' },
    { HOST: '10.0.0.1', BASE_URL: 'http://127.0.0.1' },
  ]) {
    const { isLocal, payments, sandbox } = loadConfig(env)
    assert.deepEqual([isLocal, payments, sandbox], [false, 'none', false], JSON.stringify(env))
  }
})

test('trusted proxies are addresses and networks, the token of metrics fits into a header', () => {
  assert.deepEqual(loadConfig({ TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8,fd00::/8' }).trustedProxies, [
    '127.0.0.1',
    '10.0.0.0/8',
    'fd00::/8',
  ])
  for (const TRUSTED_PROXIES of ['proxy.example', '10.0.0.0/0', '10.0.0.0/33', '10.0.0.0/8/8', 'true', '1', '10.0.0.0/x'])
    assert.throws(() => loadConfig({ TRUSTED_PROXIES }), ConfigError, TRUSTED_PROXIES)
  assert.throws(() => loadConfig({ METRICS_TOKEN: 'two words' }), ConfigError)
})

test('the doctor names each unsafe setting in a line, and is content with the defaults', () => {
  assert.deepEqual(findings(loadConfig({})), [])
  const problems = findings(
    loadConfig({
      BASE_URL: 'http://imagery.example',
      DEMO: '1',
      PAYMENTS: 'sandbox',
      SANDBOX: '1',
      METRICS_TOKEN: 'short',
      EGRESS_ALLOW: 'localhost',
    }),
  )
  assert.deepEqual(
    problems.map((line) => line.split(':', 1)[0]),
    ['DEMO', 'PAYMENTS', 'SANDBOX', 'BASE_URL', 'TRUSTED_PROXIES', 'METRICS_TOKEN', 'EGRESS_ALLOW'],
  )
  assert.ok(problems.every((line) => !line.includes('\n')))
})

test('the store listens on the next port, at the host of the API, unless told otherwise', () => {
  const address = (env: Record<string, string>) => {
    const { storePort, storeUrl } = loadConfig(env)
    return [storePort, storeUrl]
  }
  assert.deepEqual(address({}), [8081, 'http://127.0.0.1:8081'])
  assert.deepEqual(address({ PORT: '9000' }), [9001, 'http://127.0.0.1:9001'])
  assert.deepEqual(address({ PORT: '0' }), [0, 'http://127.0.0.1:0'])
  assert.deepEqual(address({ PORT: '9000', STORE_PORT: '0' }), [0, 'http://127.0.0.1:0'])
  assert.deepEqual(address({ HOST: '::1', STORE_PORT: '7000' }), [7000, 'http://[::1]:7000'])
  assert.deepEqual(address({ BASE_URL: 'https://imagery.example/' }), [8081, 'https://imagery.example:8081'])
  assert.deepEqual(address({ BASE_URL: 'https://imagery.example', STORE_URL: 'https://store.imagery.example/' }), [
    8081,
    'https://store.imagery.example',
  ])
})

test('S3 is named by STORAGE_URL, and its endpoint and region by the usual variables', () => {
  const { storageUrl, s3Endpoint, s3Region } = loadConfig({
    STORAGE_URL: 's3://imagery/tenant/a',
    S3_ENDPOINT: 'http://minio:9000/',
    AWS_DEFAULT_REGION: 'eu-north-1',
  })
  assert.deepEqual([storageUrl, s3Endpoint, s3Region], ['s3://imagery/tenant/a', 'http://minio:9000', 'eu-north-1'])
  assert.deepEqual([loadConfig({}).storageUrl, loadConfig({}).s3Endpoint, loadConfig({}).s3Region], ['', '', ''])
  for (const STORAGE_URL of [
    'imagery',
    'https://imagery',
    's3://',
    's3://Imagery',
    's3://im agery',
    's3://imagery//a',
    's3://imagery/a?b',
    's3://user:pass@imagery',
  ])
    assert.throws(() => loadConfig({ STORAGE_URL }), ConfigError, STORAGE_URL)
  for (const env of [{ S3_ENDPOINT: 'minio:9000' }, { STORE_URL: 'ftp://x' }, { STORE_PORT: '70000' }, { STORE_PORT: 'x' }])
    assert.throws(() => loadConfig(env), ConfigError, JSON.stringify(env))
})

test('raster processes are as many as the machine has cores, and uploads are rewritten with zstd, unless told otherwise', () => {
  assert.equal(loadConfig({}).rasterProcesses, availableParallelism())
  assert.equal(loadConfig({ RASTER_PROCESSES: '3' }).rasterProcesses, 3)
  assert.deepEqual([loadConfig({}).cogCompression, loadConfig({ COG_COMPRESSION: 'deflate' }).cogCompression], ['zstd', 'deflate'])
  for (const env of [{ RASTER_PROCESSES: '0' }, { RASTER_PROCESSES: 'many' }, { COG_COMPRESSION: 'lzw' }])
    assert.throws(() => loadConfig(env), ConfigError, JSON.stringify(env))
})
