/** Goal: where objects are stored and served follows from the environment, and a mistake there is told before anything starts. */
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import os, { availableParallelism } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { ConfigError, readSettings, SETTING_NAMES } from '#core/settings.ts'
import { loadConfig } from './config.ts'
import { openSecrets } from '#start/secrets.ts'
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
  const lines = findings(
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
    lines.map((line) => line.split(':', 1)[0]),
    ['DEMO', 'PAYMENTS', 'SANDBOX', 'BASE_URL', 'TRUSTED_PROXIES', 'METRICS_TOKEN', 'EGRESS_ALLOW'],
  )
  assert.ok(lines.every((line) => !line.includes('\n')))
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

test('access logs of S3 have a place, with exactly this prefix', () => {
  const at = (S3_ACCESS_LOGS: string) => loadConfig({ STORAGE_URL: 's3://imagery', S3_ACCESS_LOGS }).s3AccessLogs
  assert.deepEqual(at('s3://logs/imagery/'), { bucket: 'logs', prefix: 'imagery/' })
  assert.deepEqual([at('s3://logs'), at('')], [{ bucket: 'logs', prefix: '' }, null])
  for (const url of ['logs', 's3://', 'https://logs/x', 's3://logs/a?b']) assert.throws(() => at(url), ConfigError, url)
  assert.throws(() => loadConfig({ S3_ACCESS_LOGS: 's3://logs' }), ConfigError, 'only S3 writes them')
})

test('clients can have another address of S3, and objects can be encrypted there', () => {
  const { s3PublicEndpoint, s3Encryption } = loadConfig({ S3_PUBLIC_ENDPOINT: 'https://files.example/', S3_SSE: 'AES256' })
  assert.deepEqual([s3PublicEndpoint, s3Encryption], ['https://files.example', { algorithm: 'AES256', kmsKey: '' }])
  assert.deepEqual(loadConfig({ S3_SSE: 'aws:kms', S3_SSE_KMS_KEY: 'k1' }).s3Encryption, { algorithm: 'aws:kms', kmsKey: 'k1' })
  assert.deepEqual([loadConfig({}).s3PublicEndpoint, loadConfig({}).s3Encryption], ['', null])
  for (const env of [
    { S3_PUBLIC_ENDPOINT: 'files.example' },
    { S3_SSE: 'aes' },
    { S3_SSE_KMS_KEY: 'k1' },
    { S3_SSE: 'AES256', S3_SSE_KMS_KEY: 'k1' },
  ])
    assert.throws(() => loadConfig(env), ConfigError, JSON.stringify(env))
})

test('raster processes are as many as the machine has cores, and uploads are rewritten with zstd, unless told otherwise', () => {
  assert.equal(loadConfig({}).rasterProcesses, availableParallelism())
  assert.equal(loadConfig({ RASTER_PROCESSES: '3' }).rasterProcesses, 3)
  assert.equal(loadConfig({}).jobPartSamples, 100_000_000)
  assert.equal(loadConfig({ JOB_PART_MEGAPIXELS: '0' }).jobPartSamples, 0)
  assert.throws(() => loadConfig({ JOB_PART_MEGAPIXELS: '-1' }), /JOB_PART_MEGAPIXELS/)
  assert.deepEqual([loadConfig({}).cdnSeconds, loadConfig({ CDN_SECONDS: '0' }).cdnSeconds, loadConfig({}).tileCache], [3_600, 0, null])
  assert.throws(() => loadConfig({ CDN_SECONDS: '31536001' }), /CDN_SECONDS/)
  assert.deepEqual(loadConfig({ TILE_CACHE: 'store', TILE_CACHE_GB: '5', TILE_CACHE_DAYS: '2' }).tileCache, {
    maxBytes: 5e9,
    maxAgeSeconds: 172_800,
  })
  assert.throws(() => loadConfig({ TILE_CACHE: 'redis' }), /TILE_CACHE must be one of memory, store/)
  assert.deepEqual([loadConfig({}).cogCompression, loadConfig({ COG_COMPRESSION: 'deflate' }).cogCompression], ['zstd', 'deflate'])
  for (const env of [{ RASTER_PROCESSES: '0' }, { RASTER_PROCESSES: 'many' }, { COG_COMPRESSION: 'lzw' }])
    assert.throws(() => loadConfig(env), ConfigError, JSON.stringify(env))
})

// Goal: credentials at sources are settings or files; what cannot be sent in a header stops the start.
test('credentials at sources', (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-config-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'secret')
  writeFileSync(file, 'from a file\n')
  const { vendorSecrets } = loadConfig({
    VENDOR_OUR_ARCHIVE_KEY: 'a key',
    VENDOR_PLANET_CLIENT_SECRET_FILE: file,
    VENDOR_EMPTY_KEY: ' ',
    VENDOR_SOMETHING_ELSE: 'no',
  })
  assert.deepEqual(vendorSecrets, { VENDOR_OUR_ARCHIVE_KEY: 'a key', VENDOR_PLANET_CLIENT_SECRET: 'from a file' })
  const rejects = (env: Record<string, string>, pattern: RegExp) =>
    assert.throws(
      () => loadConfig(env),
      (error) => error instanceof ConfigError && pattern.test(error.message),
    )
  rejects({ VENDOR_X_KEY: 'two\nlines' }, /^VENDOR_X_KEY must be printable ASCII on one line$/)
  rejects({ VENDOR_X_KEY_FILE: path.join(folder, 'missing') }, /^VENDOR_X_KEY_FILE: cannot read .*missing/)
})

test('OFFLINE', () => {
  assert.equal(loadConfig({}).isOffline, false)
  assert.equal(loadConfig({ OFFLINE: '1' }).isOffline, true)
  assert.throws(() => loadConfig({ OFFLINE: 'yes' }), /OFFLINE must be one of 0, 1/)
})

// Goal: the settings of a pooler, of pools and of load balancers are checked together, before anything connects.
test('connections to the database, and of load balancers', () => {
  const DATABASE_URL = 'postgres://user@pooler/db'
  const standard = loadConfig({})
  assert.deepEqual(
    [standard.databaseDirectUrl, standard.databasePooler, standard.databasePool, standard.databaseSearchPool],
    ['', '', 16, 6],
  )
  assert.equal(loadConfig({ DATABASE_URL }).databaseDirectUrl, DATABASE_URL)
  const pooled = loadConfig({ DATABASE_URL, DATABASE_POOLER: 'transaction', DATABASE_DIRECT_URL: 'postgres://user@server/db' })
  assert.deepEqual([pooled.databasePooler, pooled.databaseDirectUrl], ['transaction', 'postgres://user@server/db'])
  assert.deepEqual([standard.databaseReplicaUrls, standard.databaseReplicaLagSeconds], [[], 10])
  const replicated = loadConfig({ DATABASE_URL, DATABASE_REPLICA_URLS: 'postgres://u:PassWord@r1/db, postgres://r2/db,' })
  assert.deepEqual(replicated.databaseReplicaUrls, ['postgres://u:PassWord@r1/db', 'postgres://r2/db'])
  assert.deepEqual(standard.retention, { auditDays: 400, eventDays: 90, deliveryDays: 30, egressLogDays: 400, usageDays: 0 })
  assert.equal(loadConfig({ AUDIT_DAYS: '0' }).retention.auditDays, 0, 'forever')
  assert.equal(loadConfig({ LOG_TILES: '0.01' }).logTiles, 0.01)
  for (const env of [{ USAGE_DAYS: '30' }, { EVENT_DAYS: '-1' }, { LOG_TILES: '2' }, { LOG_TILES: 'all' }])
    assert.throws(() => loadConfig(env), new RegExp(Object.keys(env)[0]!))
  assert.deepEqual([standard.drainSeconds, standard.keepAliveSeconds], [0, 75])
  assert.equal(loadConfig({ HOST: '0.0.0.0' }).drainSeconds, 5, 'behind a load balancer')
  for (const [env, pattern] of [
    [{ DATABASE_POOLER: 'transaction' }, /^DATABASE_POOLER needs DATABASE_URL$/],
    [{ DATABASE_DIRECT_URL: DATABASE_URL }, /^DATABASE_DIRECT_URL needs DATABASE_URL$/],
    [{ DATABASE_URL, DATABASE_DIRECT_URL: 'mysql://x' }, /^DATABASE_DIRECT_URL must begin with postgres:/],
    [{ DATABASE_URL, DATABASE_POOLER: 'session' }, /^DATABASE_POOLER must be transaction, not 'session'$/],
    [{ DATABASE_REPLICA_URLS: 'postgres://replica/db' }, /^DATABASE_REPLICA_URLS needs DATABASE_URL$/],
    [
      { DATABASE_URL, DATABASE_REPLICA_URLS: 'postgres://a,b:secret@c' },
      /^Each entry of DATABASE_REPLICA_URLS must begin with postgres:..$/,
    ],
    [{ DATABASE_URL, DATABASE_REPLICA_URLS: 'postgres://r,'.repeat(17) }, /^DATABASE_REPLICA_URLS must list up to 16 replicas, not 17$/],
    [{ DATABASE_REPLICA_LAG_SECONDS: '0' }, /^DATABASE_REPLICA_LAG_SECONDS must be an integer from 1 to 3600/],
    [{ DATABASE_POOL: '1' }, /^DATABASE_POOL must be an integer from 2 to 500/],
    [{ DATABASE_SEARCH_POOL: '0' }, /^DATABASE_SEARCH_POOL must be an integer from 1 to 500/],
    [{ DRAIN_SECONDS: '-1' }, /^DRAIN_SECONDS must be an integer from 0 to 600/],
    [{ KEEP_ALIVE_SECONDS: '0' }, /^KEEP_ALIVE_SECONDS must be an integer from 1 to 3600/],
  ] as const)
    assert.throws(() => loadConfig(env), { message: pattern })
})

// Goal: rates have a day and cannot be misread; an old table is reported.
test('exchange rates', () => {
  assert.deepEqual(loadConfig({}).exchangeRates, { audPerUnit: {}, day: null, marginPercent: 3 })
  const config = loadConfig({ EXCHANGE_RATES: 'USD=1.56, EUR=1.71@2026-11-01', EXCHANGE_MARGIN_PERCENT: '0' })
  assert.deepEqual(config.exchangeRates, { audPerUnit: { USD: 1.56, EUR: 1.71 }, day: '2026-11-01', marginPercent: 0 })
  for (const EXCHANGE_RATES of [
    'USD=1.56',
    'USD=1.56@yesterday',
    'USD=1.56@2026-13-01',
    'usd=1.5@2026-11-01',
    'USD=0@2026-11-01',
    '@2026-11-01',
  ])
    assert.throws(() => loadConfig({ EXCHANGE_RATES }), /EXCHANGE_RATES/, EXCHANGE_RATES)
  for (const EXCHANGE_MARGIN_PERCENT of ['-1', '101', 'few'])
    assert.throws(() => loadConfig({ EXCHANGE_MARGIN_PERCENT }), /EXCHANGE_MARGIN_PERCENT/, EXCHANGE_MARGIN_PERCENT)
  assert.deepEqual(findings(config, new Date('2026-12-02T00:00:00Z')), [])
  assert.match(findings(config, new Date('2026-12-03T00:00:00Z'))[0]!, /^EXCHANGE_RATES: the rates are of 2026-11-01/)
})

// Goal: the key of secrets is a setting, a file that it names, or a file in the data folder that nobody else can read.
test('the key of secrets', (t) => {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-config-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const key = Buffer.alloc(32, 7)
  const file = path.join(dataDir, 'given')
  writeFileSync(file, `${key.toString('base64')}\n`)
  for (const env of [{ SECRETS_KEY: key.toString('base64') }, { SECRETS_KEY: key.toString('hex') }, { SECRETS_KEY_FILE: file }])
    assert.deepEqual(loadConfig(env).secretsKey, key)
  assert.throws(() => loadConfig({ SECRETS_KEY: 'too short' }), /SECRETS_KEY must be 32 bytes/)

  const ofFolder = () => openSecrets({ secretsKey: null, dataDir })
  const sealed = ofFolder().close('secret', 'row 1')
  const own = path.join(dataDir, 'secrets.key')
  assert.equal(statSync(own).mode & 0o777, 0o600)
  assert.equal(ofFolder().open(sealed, 'row 1'), 'secret', 'the next start has the same key')
  assert.equal(ofFolder().open(sealed, 'row 2'), null, 'a value belongs to its row')
  assert.equal(openSecrets({ secretsKey: key, dataDir }).open(sealed, 'row 1'), null)
  chmodSync(own, 0o644)
  assert.throws(ofFolder, /can be read by other users: run chmod 600/)
  chmodSync(own, 0o600)
  writeFileSync(own, 'damaged')
  assert.throws(ofFolder, /must have 32 bytes/)
})

test('settings come from the environment, then from a file; a secret can be the content of a file', (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-settings-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const write = (name: string, content: string): string => {
    const file = path.join(folder, name)
    writeFileSync(file, content)
    return file
  }
  const database = write('database', 'postgres://gt:secret@db/imagery\n')
  const key = write('key', 'AKIAEXAMPLE\n')
  const secretKey = write('secret-key', 'wJalrXUtnFEMI\n')
  const file = write(
    'groundtrack.env',
    `# The service\nPORT=9000\nLOG_LEVEL=warn\nDATABASE_URL_FILE=${database}\nAWS_ACCESS_KEY_ID_FILE=${key}\n`,
  )
  const config = loadConfig({ CONFIG_FILE: file, LOG_LEVEL: 'debug', AWS_SECRET_ACCESS_KEY_FILE: secretKey })
  assert.deepEqual([config.port, config.logLevel, config.databaseUrl], [9000, 'debug', 'postgres://gt:secret@db/imagery'])
  assert.deepEqual(config.s3Credentials, { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI' })
  assert.equal(
    loadConfig({ CONFIG_FILE: file, DATABASE_URL: 'postgres://other', AWS_SECRET_ACCESS_KEY: 'x' }).databaseUrl,
    'postgres://other',
  )

  const refused: [Record<string, string>, RegExp][] = [
    [{ CONFIG_FILE: write('typo.env', 'PROT=9000\n') }, /PROT, which is not a setting; did you mean PORT\?/],
    [{ CONFIG_FILE: path.join(folder, 'missing.env') }, /CONFIG_FILE: cannot read/],
    [{ METRICS_TOKEN: 'a', METRICS_TOKEN_FILE: key }, /METRICS_TOKEN and METRICS_TOKEN_FILE are both set/],
    [{ SMTP_URL_FILE: write('empty', '\n') }, /SMTP_URL_FILE: .* is empty/],
    [{ SMTP_URL_FILE: write('large', 'x'.repeat(70_000)) }, /larger than 65536 bytes/],
    [{ AWS_ACCESS_KEY_ID: 'AKIA' }, /AWS_SECRET_ACCESS_KEY is missing/],
  ]
  for (const [env, message] of refused) assert.throws(() => loadConfig(env), message)
})

test('every setting of the README is known to configuration files, and the other way round', () => {
  const readme = readFileSync(path.join(import.meta.dirname, '../README.md'), 'utf8')
  const table = readme.slice(readme.indexOf('## Configuration'), readme.indexOf('## Scaling out'))
  const documented = [...table.matchAll(/^\| ([^|]*) \|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`([A-Z0-9_]+)`/g)].map(([, name]) => name!),
  )
  const isKnown = (name: string) => readSettings({ [name]: 'x' }).given.has(name)
  assert.deepEqual(
    documented.filter((name) => name !== 'CONFIG_FILE' && !isKnown(name)),
    [],
  )
  const undocumented = SETTING_NAMES.filter((name) => !documented.includes(name) && !/^AWS_|^NO_COLOR$/.test(name))
  assert.deepEqual(undocumented, [])
})

test('traces have the standard settings, and are off without an endpoint', () => {
  assert.equal(loadConfig({}).tracing, null)
  assert.equal(loadConfig({ OTEL_TRACES_SAMPLER: 'always_on' }).tracing, null)
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318/' }
  assert.deepEqual(loadConfig(env).tracing, {
    url: 'http://127.0.0.1:4318/v1/traces',
    headers: {},
    serviceName: 'groundtrack',
    resource: {},
    sampler: 'parentbased_always_on',
    ratio: 1,
  })
  const all = {
    ...env,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a%2Cb, x-team=maps',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=tiles,deployment.environment.name=test',
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.01',
  }
  const { headers, serviceName, sampler, ratio } = loadConfig(all).tracing!
  assert.deepEqual(headers, { authorization: 'Bearer a,b', 'x-team': 'maps' })
  assert.deepEqual([serviceName, sampler, ratio], ['tiles', 'traceidratio', 0.01])
  assert.equal(loadConfig({ ...all, OTEL_SERVICE_NAME: 'imagery' }).tracing!.serviceName, 'imagery')
  for (const wrong of [
    { OTEL_EXPORTER_OTLP_ENDPOINT: '127.0.0.1:4317' },
    { ...env, OTEL_TRACES_SAMPLER: 'sometimes' },
    { ...env, OTEL_TRACES_SAMPLER_ARG: '2' },
    { ...env, OTEL_EXPORTER_OTLP_HEADERS: 'secret without a name' },
    { ...env, OTEL_EXPORTER_OTLP_HEADERS: 'a=%zz' },
  ])
    assert.throws(
      () => loadConfig(wrong),
      (error: Error) => error instanceof ConfigError && !error.message.includes('secret') && error.message.startsWith('OTEL_'),
    )
})

test('base maps are a style, raster tiles or an archive each, and no message shows a key', () => {
  const KEY = 'k3y'
  const kinds = (env: Record<string, string>) => loadConfig(env).baseMaps.map(({ id, kind }) => `${id} ${kind}`)
  assert.deepEqual(kinds({}), [])
  assert.deepEqual(kinds({ BASEMAP_URL: `https://maps.example/style.json?key=${KEY}` }), ['streets style'])
  const raster = `https://maps.example/{z}/{x}/{y}.png?key=${KEY}`
  assert.deepEqual(kinds({ BASEMAP_URL: './world.pmtiles', BASEMAP_SATELLITE_URL: raster, BASEMAP_SATELLITE_ATTRIBUTION: '© Example' }), [
    'streets pmtiles',
    'satellite raster',
  ])
  assert.equal(loadConfig({ BASEMAP_URL: './world.pmtiles' }).baseMaps[0]!.location, path.resolve('world.pmtiles'))
  assert.deepEqual(kinds({ BASEMAP_URL: `https://maps.example/world.pmtiles?key=${KEY}` }), ['streets pmtiles'])
  for (const [env, message] of [
    [{ BASEMAP_URL: raster }, /^BASEMAP_URL is a template of raster tiles, which needs BASEMAP_ATTRIBUTION/],
    [{ BASEMAP_URL: `https://maps.example/{z}.png?key=${KEY}`, BASEMAP_ATTRIBUTION: 'x' }, /^BASEMAP_URL must have {z}, {x} and {y}/],
    [{ BASEMAP_URL: `ftp://maps.example/${KEY}` }, /^BASEMAP_URL must be an http or https URL/],
    [{ BASEMAP_SATELLITE_ATTRIBUTION: '© Example' }, /^BASEMAP_SATELLITE_ATTRIBUTION needs BASEMAP_SATELLITE_URL$/],
  ] as const)
    assert.throws(
      () => loadConfig(env),
      (error) => error instanceof ConfigError && message.test(error.message) && !error.message.includes(KEY),
    )
  assert.equal(readSettings({ BASEMAP_URL: raster }).given.get('BASEMAP_URL')?.isSecret, true)
})
