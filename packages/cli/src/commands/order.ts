import { randomUUID } from 'node:crypto'
import { priceOf, waitFor, type Client } from '../../../client/src/core.ts'
import { connect } from '../config.ts'
import { confirmPrice, formatPrice } from '../confirm.ts'
import { EXIT, UsageError } from '../failure.ts'
import { readFlags, type GlobalOptions, type Run } from '../options.ts'
import { projectFor } from '../projects.ts'
import { json, note, print, table } from '../terminal.ts'
import { areaOf, boxOf } from './search.ts'

interface WithStatus {
  id: string
  status: string
}

/** Buys scenes. Fetches the geometry of each from its host, so that users need not copy it. */
export const order: Run = async (rest, options) => {
  const { values, switches, positions } = readFlags(rest, { values: ['host', 'project', 'licence', 'bbox', 'area'], switches: ['wait'] })
  const host = values['host']
  if (positions.length === 0 || host === undefined)
    throw new UsageError('Specify scenes and their host', 'groundtrack order SCENE --host sandbox-vhr')
  const client = connect(options)
  const part = values['area'] ? areaOf(values['area']) : values['bbox'] ? boxOf(values['bbox']) : null
  const captures = []
  for (const id of positions) {
    const { geometry } = await client.call<{ geometry: unknown }>('catalog.item.get', { host_name: host, id }, {}, 'read')
    captures.push({ id, geometry: part ?? geometry, host })
  }
  const projectId = await projectFor(client, values['project'], options)
  const input = { projectId, captures, ...(values['licence'] ? { licenseType: values['licence'] } : {}) }
  return await place(client, { operation: 'orders.archive.place', input, isWaiting: switches.has('wait') }, options)
}

export const task: Run = async (rest, options) => {
  const { values, switches } = readFlags(rest, {
    values: ['product', 'area', 'from', 'to', 'max-cloud', 'name', 'project', 'params'],
    switches: ['wait'],
    positions: 0,
  })
  const { product, area, from, to, name = 'Tasking order' } = values
  if (product === undefined || area === undefined)
    throw new UsageError('Specify a product and an area', 'groundtrack task --product NAME --area @field.geojson')
  const client = connect(options)
  const params = {
    ...(from ? { acquisitionStart: instant(from, '00:00:00Z') } : {}),
    ...(to ? { acquisitionEnd: instant(to, '23:59:59Z') } : {}),
    ...(values['max-cloud'] ? { maxCloudCover: Number(values['max-cloud']) } : {}),
    ...(values['params'] ? (JSON.parse(values['params']) as object) : {}),
  }
  const featureCollection = { type: 'FeatureCollection', features: [{ type: 'Feature', properties: {}, geometry: areaOf(area) }] }
  const projectId = await projectFor(client, values['project'], options)
  const input = { projectId, displayName: name, groups: [{ dataProduct: product, featureCollection, params }] }
  return await place(client, { operation: 'orders.tasking.place', input, isWaiting: switches.has('wait') }, options)
}

const instant = (text: string, time: string) => (text.includes('T') ? text : `${text}T${time}`)

interface Placement {
  operation: string
  input: object
  isWaiting: boolean
}

async function place(client: Client, { operation, input, isWaiting }: Placement, options: GlobalOptions): Promise<number> {
  const price = await priceOf((id, fields) => client.call(id, fields, {}, 'read'), operation, input)
  if (options.dryRun) {
    await print(`${json({ dry_run: true, operation, price, input })}\n`)
    return EXIT.ok
  }
  note(`Price: ${formatPrice(price)}`, options.quiet)
  await confirmPrice(client, { operation, input }, options)
  const placed = await client.call<WithStatus>(operation, input, { idempotencyKey: randomUUID() }, 'keyed')
  if (!isWaiting) {
    await print(`${json(placed)}\n`)
    return EXIT.ok
  }
  const done = await waitFor(client, { order: placed.id }, { onChange: ({ status }) => note(status, options.quiet) })
  await print(`${json(done)}\n`)
  return done.status === 'fulfilled' ? EXIT.ok : EXIT.refused
}

/** Lists jobs, watches one until it ends, or cancels one. */
export const jobs: Run = async (rest, options) => {
  const { positions } = readFlags(rest, { positions: 2 })
  const [verb, id] = positions
  const client = connect(options)
  if (verb === 'watch') {
    if (id === undefined) throw new UsageError('Specify a job', 'groundtrack jobs watch JOB')
    const done = await waitFor(client, { job: id }, { onChange: ({ status }) => note(status, options.quiet) })
    await print(`${json(done)}\n`)
    return done.status === 'completed' ? EXIT.ok : EXIT.refused
  }
  if (verb === 'cancel') {
    if (id === undefined) throw new UsageError('Specify a job', 'groundtrack jobs cancel JOB')
    const { job } = await client.call<{ job: WithStatus }>('processing.job.cancel', { job_id: id }, {}, 'write')
    await print(`${json(job)}\n`)
    return EXIT.ok
  }
  if (verb !== undefined) throw new UsageError(`Unknown command 'jobs ${verb}'`, 'groundtrack jobs [watch JOB | cancel JOB]')
  const { jobs: list } = await client.call<{ jobs: (WithStatus & { job_type: string; created_at: string })[] }>(
    'processing.jobs.list',
    {},
    {},
    'read',
  )
  if (options.json || !process.stdout.isTTY) await print(`${json(list)}\n`)
  else
    await print(
      `${table(
        ['JOB', 'TYPE', 'STATUS', 'CREATED'],
        list.map((job) => [job.id, job.job_type, job.status, job.created_at.slice(0, 16).replace('T', ' ')]),
      )}\n`,
    )
  return EXIT.ok
}
