import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileHost } from './support/ranges.ts'
import { rasterItem } from './support/layers.ts'
import { scene, tileAt } from './support/scene.ts'
import { world } from './support/world.ts'

type Case = [operation: string, input: object, status: number, detail: RegExp]

// Goal: an error names what is wrong, what is accepted and the closest valid value.
test('errors say what to send instead', async (t) => {
  const files = await fileHost(t)
  files.put('scene.tif', await scene())
  const w = await world(t, { egressAllow: [files.host], cogHosts: ['images.example', 'cogs.example'] })
  const org = await w.organization()
  const token = org.owner.token
  const item_id = await rasterItem(w, org, [{ bytes: await scene() }])
  const url = files.url('scene.tif')
  const tile = { ...tileAt(151.15, -33.1, 12), format: 'png' }
  const check = async (cases: readonly Case[]) => {
    for (const [operation, input, status, detail] of cases) {
      const { status: got, body } = await w.call(token, operation, input)
      const said = [
        body?.detail,
        ...(body?.errors ?? []).map((each: { field: string; message: string }) => `${each.field}: ${each.message}`),
      ].join('\n')
      assert.deepEqual([got, detail.test(said)], [status, true], `${operation} ${JSON.stringify(input)} → ${got} ${said}`)
    }
  }

  await t.test('periods and times: every accepted form, with an example of each', async () => {
    const period = /period: must be a month \(2026-03\), a year \(2026\) or an interval \(2026-03-01\/2026-04-15\)/
    const interval = /a timestamp \(2026-03-01T10:00:00Z\), a date \(2026-03-01\) or two of them separated by \/ .*\.\. for an open end/
    await check([
      ['reports.generate', { report_type: 'usage', period: 'yesterday' }, 422, period],
      ['reports.generate', { report_type: 'usage', period: '2026-13' }, 422, period],
      ['reports.generate', { report_type: 'usage', period: '2026-01-01/2026-01-02/2026-01-03' }, 422, period],
      ['reports.generate', { report_type: 'usage', period: '2026-03-01/..' }, 422, period],
      ['processing.jobs.list', { created: 'last week' }, 422, interval],
      ['processing.jobs.list', { created: '../..' }, 422, interval],
      ['processing.jobs.list', { created: '2026-02-31' }, 422, interval],
    ])
  })

  await t.test('an unknown field: the closest one, or all fields', async () => {
    await check([
      [
        'reports.generate',
        { report_type: 'usage', from: '2026-03-01', to: '2026-04-01' },
        422,
        /from: is not a field of this operation; its fields are report_type, project_id, item_id, entity_type, entity_id, period, format/,
      ],
      ['reports.generate', { report_type: 'usage', perod: '2026-03' }, 422, /did you mean period\?/],
    ])
  })

  await t.test('unknown values, processes, methods, indices, sensors, colormaps and visualizations: the closest one', async () => {
    const project_id = org.projectId
    const unknown = /No such process 'hilshade'; did you mean hillshade\?/
    await check([
      [
        'reports.generate',
        { report_type: 'usag' },
        422,
        /report_type: must be one of usage, orders, project, item, lineage; did you mean usage\?/,
      ],
      ['processing.create', { project_id, job_type_id: 'hilshade', input_params: { item_id } }, 404, unknown],
      ['processing.create_and_dispatch', { project_id, job_type_id: 'hilshade', input_params: { item_id } }, 404, unknown],
      ['processing.catalog.get', { process_id: 'hilshade' }, 404, unknown],
      ['processing.catalog.get', { process_id: 'shadows' }, 404, /No such process 'shadows'; available processes: aspect, .*, zonal_stats/],
      [
        'analytics.operations.get',
        { operation_name: 'zonal_stat' },
        404,
        /No such analytics method 'zonal_stat'; did you mean zonal_stats\?/,
      ],
      [
        'analytics.execute',
        { operation: 'zonal_stat', params: {} },
        422,
        /operation: must be one of .*zonal_stats.*; did you mean zonal_stats\?/,
      ],
      ['analytics.index.get', { index_name: 'ndvii' }, 404, /No such spectral index 'ndvii'; did you mean ndvi\?/i],
      ['analytics.index.get', { index_name: 'greenishness' }, 404, /'greenishness'; see analytics\.indices\.list/],
      ['analytics.validate_formula', { formula: 'NIR', sensor: 'skysatt' }, 422, /did you mean skysat\?/],
      ['cog.tile.render', { url, ...tile, bands: '1', colormap: 'virdis' }, 422, /unknown colormap 'virdis'; did you mean viridis\?/],
      ['items.tile.render', { item_id, ...tile, bands: '1', colormap: 'virdis' }, 422, /unknown colormap 'virdis'; did you mean viridis\?/],
      ['cog.tile.render', { url, ...tile, bands: '1', colormap: 'mauve' }, 422, /unknown colormap 'mauve'; see cog\.colormaps/],
      ['cog.tile.render', { url, ...tile, visualization: 'ndwii' }, 422, /no visualization 'ndwii'; did you mean ndwi\?/],
      ['cog.tile.render', { url, ...tile, visualization: 'lava' }, 422, /no visualization 'lava'; it has rgb, .*ndvi/],
    ])
  })

  await t.test('unknown bands: the existing ones, for items and files', async () => {
    const geometry = {
      type: 'Polygon',
      coordinates: [
        [
          [151.1, -33.1],
          [151.2, -33.1],
          [151.2, -33.05],
          [151.1, -33.1],
        ],
      ],
    }
    const bands = /the bands are b1 \(blue\), b2 \(green\), b3 \(red\), b4 \(nir\)/
    await check([
      ['cog.tile.render', { url, ...tile, expression: 'swir/red' }, 422, bands],
      ['cog.tile.render', { url, ...tile, expression: 'b7' }, 422, bands],
      ['cog.tile.render', { url, ...tile, bands: '9' }, 422, bands],
      ['cog.tile.render', { url, ...tile, bands: 'redd' }, 422, bands],
      ['cog.statistics', { url, geometry, bands: '9' }, 422, bands],
      ['cog.statistics', { url, geometry, expression: 'swir/red' }, 422, bands],
      ['items.tile.render', { item_id, ...tile, expression: 'swir/red' }, 422, bands],
      ['items.tile.render', { item_id, ...tile, bands: '9,1,2' }, 422, bands],
      ['items.tile.statistics', { item_id, expression: 'swir/red' }, 422, bands],
      ['analytics.band_math', { item_id, formula: 'swir/red' }, 422, bands],
      ['analytics.calculate_index', { item_id, index_name: 'nbr' }, 422, bands],
      ['analytics.calculate_index', { item_id, index_name: 'nbr', band_mapping: { SWIR2: 9 } }, 422, bands],
      ['cog.tile.render', { url, ...tile, expression: 'sqrtt(b1)' }, 422, /unknown function 'sqrtt' at character 1; did you mean sqrt\?/],
    ])
  })

  await t.test('a host that is not allowed: the setting, and the hosts that are', async () => {
    const expected = /the host 'example\.com' of url is not allowed.*COG_HOSTS; the allowed hosts are cogs\.example, images\.example$/m
    await check([['cog.tile.render', { url: 'https://example.com/a.tif', ...tile }, 422, expected]])
    const { body } = await w.call(token, 'cog.tile.render', { url: 'https://example.com/a.tif', ...tile })
    assert.ok(!body.detail.includes('127.0.0.1'), 'hosts of the private network are not expected')
  })

  await t.test('an invalid credential: what to check, with the same text for each', async () => {
    const { key } = await w.key(token)
    const get = async (headers: Record<string, string>) => (await w.request('GET', '/v1/event-types', { headers })).body
    const ended = await w.person()
    w.clock.advance({ minutes: 16 })
    const wrong = [`${key.slice(0, -1)}`, 'svc_unknown', 'nonsense', 'a.b.c', ended.token]
    const said = await Promise.all(wrong.map((secret) => get({ authorization: `Bearer ${secret}` })))
    assert.deepEqual([...new Set(said.map(({ detail }) => detail))], ['Invalid authentication credentials'])
    assert.equal(new Set(said.map(({ hint }) => hint)).size, 1)
    assert.match(
      said[0].hint,
      /session token expires after 15 minutes.*sign in again.*API key begins with svc_ and may have expired or been revoked/,
    )
    assert.match(said[0].hint, /Authorization must be 'Bearer', a space and one of the two; X-API-Key and key= accept only an API key/)
    for (const headers of [{ authorization: `Basic ${key}` }, { authorization: key }, { 'x-api-key': ended.token }])
      assert.equal((await get(headers as Record<string, string>)).hint, said[0].hint, 'nothing tells one from another')
    const signIn = (email: string, password: string) => w.post('/auth/sign-in', { email, password })
    const [noPassword, nobody] = [await signIn(ended.email, 'wrong password 1'), await signIn('nobody@example.com', 'wrong password 1')]
    assert.match(noPassword.body.hint, /email address or the password is wrong/)
    assert.equal(nobody.body.hint, noPassword.body.hint)
    assert.match((await w.post('/auth/refresh', { refresh_token: 'unknown' })).body.hint, /session has ended; sign in again/)
  })
})
