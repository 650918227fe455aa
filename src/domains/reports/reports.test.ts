import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import { printable } from '#services/documents/report-page.ts'
import { reportCsv } from '#services/documents/report.ts'
import { scene } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'
import sweep from './sweep.task.ts'

/** Folder to save the reports to, for inspection by eye. */
const LOOK_AT = process.env['REPORTS_FOLDER']

// Goal: a report has the current facts of its subject, in three formats, at a URL that is valid for a week.
test('reports.generate', async (t) => {
  const w = await world(t)
  const org = await w.organization('Müller & Söhne Agrár')
  const { body } = await w.upload(org.owner.token, org.projectId, {
    'field.tif': await scene({ value: (band, x, y) => 400 * (band + 1) + 3 * x + 2 * y + 90 * Math.sin(x / 9) * Math.cos(y / 7) }),
  })
  const item = body.item_ids[0] as string
  const generate = (input: object, token = org.owner.token) => w.call(token, 'reports.generate', input)
  const download = async (input: object): Promise<{ type: string | null; bytes: Buffer; id: string }> => {
    const { status, body: report } = await generate(input)
    assert.equal(status, 200, JSON.stringify(report))
    const response = await fetch(report.url)
    assert.equal(response.status, 200)
    const bytes = Buffer.from(await response.arrayBuffer())
    assert.equal(bytes.length, report.size_bytes)
    if (LOOK_AT) writeFileSync(`${LOOK_AT}/${report.report_type}.${report.format}`, bytes)
    return { type: response.headers.get('content-type'), bytes, id: report.id }
  }

  await t.test('an item as PDF, with its image', async () => {
    const { type, bytes } = await download({ report_type: 'item', item_id: item })
    assert.equal(type, 'application/pdf')
    assert.equal(bytes.subarray(0, 5).toString(), '%PDF-')
    assert.match(bytes.toString('latin1'), /\/Subtype \/Image/)
  })

  await t.test('an item as JSON: bands, files and properties', async () => {
    const { bytes } = await download({ report_type: 'item', item_id: item, format: 'json' })
    const report = JSON.parse(bytes.toString())
    assert.equal(report.organization, 'Müller & Söhne Agrár')
    assert.deepEqual(
      report.tables.map(({ title }: { title: string }) => title),
      ['Band statistics, from an overview', 'Files', 'Properties'],
    )
    assert.equal(report.tables[0].rows.length, 4)
    assert.equal(report.tables[1].rows[0].key, 'data')
  })

  await t.test('a project as PDF with a map and as CSV of its items', async () => {
    const { bytes } = await download({ report_type: 'project', project_id: org.projectId })
    assert.equal(bytes.subarray(0, 5).toString(), '%PDF-')
    const { bytes: table } = await download({ report_type: 'project', project_id: org.projectId, format: 'csv' })
    const [head, row] = table.toString().split('\r\n')
    assert.equal(head, 'name,type,datetime,cloud_cover,gsd,id')
    assert.match(row!, new RegExp(`,${item}$`))
  })

  await t.test('usage of a month by day agrees with usage.current', async () => {
    await w.flushUsage()
    await download({ report_type: 'usage' })
    const current = await w.ok(org.owner.token, 'usage.current') // The report itself counts as soon as it is stored.
    const { bytes } = await download({ report_type: 'usage', period: '2030-01', format: 'json' })
    const report = JSON.parse(bytes.toString())
    assert.equal(report.tables[0].rows.at(-1).storage_bytes, current.storage_bytes)
    assert.equal(report.period, '2030-01')
  })

  await t.test('orders of a month with their cost, limited to those that the caller can see', async () => {
    const [id, at] = [newId(), w.clock.now()]
    await w.db
      .insertInto('imagery_order')
      .values({
        id,
        org_id: org.id,
        project_id: org.projectId,
        order_type: 'archive',
        status: 'processing',
        sub_status: null,
        billing_mode: 'credit',
        display_name: 'Harbour, March',
        license_type: 'standard',
        tags: [],
        estimated_credits: 120,
        simulated: true,
        history: JSON.stringify([{ timestamp: at.toISOString(), status: 'processing', reason: null }]),
        next_poll_at: at,
        created_at: at,
        updated_at: at,
      })
      .execute()
    const node = {
      org_id: org.id,
      project_id: org.projectId,
      entity_type: 'order' as const,
      entity_id: id,
      invocation_id: newId(),
      created_at: at,
    }
    await w.db.insertInto('lineage_node').values(node).execute()
    const { bytes, id: report } = await download({ report_type: 'orders', format: 'json' })
    const { tables, facts } = JSON.parse(bytes.toString())
    assert.deepEqual(
      [tables[0].rows.length, tables[0].rows[0].display_name, tables[0].rows[0].estimated_credits],
      [1, 'Harbour, March', 120],
    )
    assert.equal(facts.find(({ label }: { label: string }) => label === 'Open').value, '1')
    const { edges } = await w.ok(org.owner.token, 'provenance.get', { entity_type: 'order', entity_id: id, direction: 'down' })
    assert.ok(edges.some((edge: { src_id: string }) => edge.src_id === report))
    await download({ report_type: 'orders' })
    const stranger = await w.organization()
    const { body: none } = await generate({ report_type: 'orders', format: 'json' }, stranger.owner.token)
    assert.deepEqual(JSON.parse(await (await fetch(none.url)).text()).tables[0].rows, [])
    assert.equal((await generate({ report_type: 'orders', project_id: org.projectId }, stranger.owner.token)).status, 404)
  })

  await t.test('lineage names the sources', async () => {
    const { id } = await download({ report_type: 'item', item_id: item, format: 'csv' })
    const { edges } = await w.ok(org.owner.token, 'provenance.get', { entity_type: 'item', entity_id: item, direction: 'down' })
    assert.ok(edges.some((edge: { src_type: string; src_id: string }) => edge.src_type === 'report' && edge.src_id === id))
  })

  await t.test('the whole lineage of an item, with the request of each step', async () => {
    const [middle, last] = ['Copy of the field', 'Copy of the copy']
    const duplicate = async (item_id: string, name: string) => {
      const { id } = await w.ok(org.owner.token, 'items.duplicate', { item_id })
      await w.ok(org.owner.token, 'items.update', { item_id: id, name })
      return id as string
    }
    const copy = await duplicate(item, middle)
    const end = await duplicate(copy, last)
    const known = await w.ok(org.owner.token, 'provenance.get', { entity_type: 'item', entity_id: copy, direction: 'both', max_depth: 50 })
    const traced = { report_type: 'lineage', entity_type: 'item', entity_id: copy }
    const report = JSON.parse((await download({ ...traced, format: 'json' })).bytes.toString())
    assert.equal(report.title, `Lineage of ${middle}`)
    const [steps, objects] = report.tables
    assert.deepEqual([steps.rows.length, objects.rows.length], [known.edges.length, known.nodes.length])
    const numberOf = (id: string) => objects.rows.find((row: { id: string }) => row.id === id).number
    const step = steps.rows.find(({ result }: { result: string }) => result === `${numberOf(end)} ${last}`)
    assert.deepEqual([step.relation, step.source], ['duplicated from', `${numberOf(copy)} ${middle}`])
    assert.equal(step.invocation_id, known.edges.find((edge: { src_id: string }) => edge.src_id === end).invocation_id)
    const uploaded = JSON.parse((await download({ ...traced, entity_id: item, format: 'json' })).bytes.toString())
    assert.ok(uploaded.tables[1].rows.some(({ type, name }: { type: string; name: string }) => type === 'File' && name !== null))
    const { bytes } = await download(traced)
    assert.equal(bytes.subarray(0, 5).toString(), '%PDF-')
    const project = { report_type: 'lineage', entity_type: 'project', entity_id: org.projectId, format: 'json' }
    assert.ok(JSON.parse((await download(project)).bytes.toString()).tables[1].rows.length > 3)
    const stranger = await w.organization()
    assert.equal((await generate(traced, stranger.owner.token)).status, 404)
  })

  await t.test('refusals', async () => {
    for (const input of [
      { report_type: 'lineage', entity_id: item },
      { report_type: 'lineage', entity_type: 'item' },
      { report_type: 'lineage', entity_type: 'item', entity_id: item, period: '2030-01' },
      { report_type: 'project' },
      { report_type: 'item' },
      { report_type: 'weather' },
      { report_type: 'usage', period: 'yesterday' },
      { report_type: 'usage', period: '2031-01' },
      { report_type: 'usage', period: '2020-01-01/2029-12-31' },
      { report_type: 'item', item_id: item, period: '2030-01' },
    ])
      assert.equal((await generate(input)).status, 422, JSON.stringify(input))
    const stranger = await w.organization()
    assert.equal((await generate({ report_type: 'item', item_id: item }, stranger.owner.token)).status, 404)
  })

  await t.test('an item without a readable file still has a report', async () => {
    const { id } = await w.ok(org.owner.token, 'items.create', {
      project_id: org.projectId,
      type: 'user_raster',
      name: 'Elsewhere',
      assets: [{ key: 'data', href: 'https://data.example/a.tif' }],
    })
    const { bytes } = await download({ report_type: 'item', item_id: id, format: 'json' })
    assert.deepEqual([JSON.parse(bytes.toString()).bounds, JSON.parse(bytes.toString()).tables.length], [null, 2])
  })

  await t.test('the sweep removes reports after a week and a day, not before', async () => {
    w.clock.advance({ days: 7 })
    const kept = (await w.storage.list('reports')).objects.length
    await w.runTask(sweep)
    assert.equal((await w.storage.list('reports')).objects.length, kept)
    w.clock.advance({ days: 2 })
    await w.runTask(sweep)
    assert.equal((await w.storage.list('reports')).objects.length, 0)
  })
})

// Goal: user text in a report cannot harm its reader.
test('texts in reports', () => {
  const table = { title: '', columns: [{ key: 'name', label: 'Name', share: 1 }], rows: [['=1+1'], ['a,"b"'], [-3], ['@SUM(A1)']], more: 0 }
  const csv = reportCsv({
    title: '',
    subject: '',
    organization: '',
    createdAt: new Date(0),
    period: null,
    facts: [],
    map: null,
    charts: [],
    tables: [table],
  })
  assert.equal(csv.toString(), 'name\r\n\'=1+1\r\n"a,""b"""\r\n-3\r\n\'@SUM(A1)\r\n')
  assert.equal(printable('Łódź, Győr, 東京 – 5 °C'), '·ódz, Gyor, ·· – 5 °C')
})
