/**
 * Fills the demo project as a customer would: over HTTP, scene by scene, with real uploads. Existing data stays as it is,
 * so that an interrupted run resumes.
 * Reads BASE_URL and ACCESS_TOKEN from the environment, and reports each scene to the service that started it.
 */
import { mkdtempSync, openAsBlob, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { openFileSink } from '#raster/write/sink.ts'
import { renderScene } from '../scenes/index.ts'
import type { DemoMessage } from './progress.ts'
import { COLLECTIONS, SCENES, type DemoScene } from './scenes.ts'

/** Lower priority, because people use the console while this runs. */
const LOW_PRIORITY = 10
const MEDIA_TYPE = 'image/tiff; application=geotiff; profile=cloud-optimized'
const LOOK_NAME = 'True colour'
const MOSAIC_NAME = 'Lake and fields, the greenest of each season'
const SHARE_PASSWORD = 'groundtrack-demo'
const SHARE_DAYS = 365

// Responses are read by name, as a client without generated types would.
// oxlint-disable-next-line typescript/no-explicit-any
type Answer = any

const { BASE_URL: baseUrl, ACCESS_TOKEN: token } = process.env

async function call(id: string, input: object): Promise<Answer> {
  const response = await fetch(`${baseUrl}/v1/op/${id}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(input),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${id} answered ${response.status}: ${text}`)
  return JSON.parse(text)
}

async function main(): Promise<void> {
  // With low priority, unless the demo was requested explicitly: then someone waits for it.
  if (process.env['DEMO'] !== '1') os.setPriority(LOW_PRIORITY)
  const { projects } = await call('projects.list', {})
  const project = projects.find(({ name }: Answer) => name === 'Demo')
  if (!project) return // Deleted or renamed: no longer ours to fill.
  const collections = await collectionsOf(project.id)
  const { items } = await call('items.list', { project_id: project.id, limit: 1000 })
  const described = new Map<string, string>(items.map(({ id, properties }: Answer) => [properties['sandbox:scene_id'], id]))
  const uploaded = new Map<string, string>(items.map(({ id, name }: Answer) => [name, id])) // Interrupted between upload and description.
  if (items.length === 0) await watch(collections.get('seasons')!)
  const folder = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-demo-'))
  try {
    for (const [n, demoScene] of SCENES.entries()) {
      const sceneId = demoScene.scene.id
      if (described.has(sceneId)) continue
      process.send?.({ step: { scene: n + 1, scenes: SCENES.length, name: demoScene.name } } satisfies DemoMessage)
      const itemId = uploaded.get(sceneId) ?? (await upload(project.id, collections.get(demoScene.collection)!, demoScene, folder))
      await describe(itemId, demoScene)
      described.set(sceneId, itemId)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  await mosaic(
    project.id,
    SCENES.filter(({ collection }) => collection === 'seasons').map(({ scene }) => described.get(scene.id)!),
  )
  await share(described.get(SCENES[0]!.scene.id)!)
  process.stdout.write('demo: ready\n')
}

/** Created before the scenes, so that one of them triggers it; then it is silent for a year. */
async function watch(collectionId: string): Promise<void> {
  const { count } = await call('alerts.rules.list', { collection_id: collectionId })
  if (count > 0) return // Interrupted before the first scene.
  await call('alerts.create_rule', {
    name: 'Green again',
    description: 'A new scene has a vegetation index above 0.1',
    collection_id: collectionId,
    expression: '(b8-b4)/(b8+b4)',
    comparison: 'gt',
    threshold: 0.1,
    notification_channels: ['in_app', 'webhook'],
    cooldown_minutes: 525_600,
  })
}

async function collectionsOf(projectId: string): Promise<Map<string, string>> {
  const existing: Answer[] = await call('collections.list', { project_id: projectId })
  const ids = new Map<string, string>()
  for (const [key, collection] of Object.entries(COLLECTIONS)) {
    const { id } =
      existing.find(({ name }) => name === collection.name) ??
      (await call('collections.create', { project_id: projectId, show_on_map: true, ...collection }))
    ids.set(key, id)
  }
  return ids
}

async function upload(projectId: string, collectionId: string, { scene }: DemoScene, folder: string): Promise<string> {
  const file = path.join(folder, `${scene.id}.tif`)
  const sink = await openFileSink(file)
  try {
    await renderScene(scene, sink)
  } finally {
    await sink.close()
  }
  const bytes = await openAsBlob(file, { type: MEDIA_TYPE })
  const { id: uploadId } = await call('uploads.initiate', {
    project_id: projectId,
    target_collection_id: collectionId,
    file_count: 1,
    total_bytes: bytes.size,
    transfer_method: 'signed_url',
  })
  const { upload_url: address } = await call('uploads.signed_url', {
    upload_id: uploadId,
    file_name: path.basename(file),
    content_type: MEDIA_TYPE,
  })
  const put = await fetch(address, { method: 'PUT', headers: { 'content-type': MEDIA_TYPE }, body: bytes })
  if (!put.ok) throw new Error(`the store returned ${put.status}: ${await put.text()}`)
  rmSync(file)
  const {
    item_ids: [itemId],
  } = await call('uploads.complete', { upload_id: uploadId })
  return itemId
}

async function describe(itemId: string, { name, description, scene, look }: DemoScene): Promise<void> {
  const profiles: Answer[] = look ? await call('visualization.profiles.list', { item_id: itemId }) : []
  if (look && !profiles.some((profile) => profile.name === LOOK_NAME))
    await call('visualization.profile.create', { item_id: itemId, name: LOOK_NAME, type: 'rgb', is_default: true, config: look })
  const { item } = await call('items.get', { item_id: itemId })
  await call('items.update', {
    item_id: itemId,
    name,
    description,
    datetime: scene.datetime,
    gsd: scene.gsdM,
    ...(scene.cloudCover === null ? {} : { cloud_cover: scene.cloudCover }),
    properties: {
      ...item.properties,
      'sandbox:scene_id': scene.id,
      platform: scene.sensor,
      attribution: 'Simulated by Groundtrack’s sandbox',
      'view:sun_elevation': scene.sunElevationDeg,
      'view:sun_azimuth': scene.sunAzimuthDeg,
      'view:off_nadir': scene.offNadirDeg,
    },
  })
}

/** The greenest season for each pixel, with the index of its scene. It runs while people already use the demo. */
async function mosaic(projectId: string, itemIds: readonly string[]): Promise<void> {
  const { jobs } = await call('processing.project_jobs.list', { project_id: projectId, job_type_name: 'mosaic' })
  if (jobs.some(({ input_params: input }: Answer) => input.output_name === MOSAIC_NAME)) return // Interrupted before the link was created.
  await call('processing.create_and_dispatch', {
    project_id: projectId,
    job_type_id: 'mosaic',
    input_params: {
      item_ids: itemIds,
      method: 'highest_index',
      index_name: 'ndvi',
      cloud_aware: true,
      output_name: MOSAIC_NAME,
    },
  })
}

/** The last step: once the service has stored this link's token, the demo is complete. */
async function share(itemId: string): Promise<void> {
  const expiresAt = new Date(Date.now() + SHARE_DAYS * 86_400_000).toISOString()
  const { token: shareToken } = await call('share.link.create', {
    target_type: 'item',
    target_id: itemId,
    permission: 'download',
    password: SHARE_PASSWORD,
    expires_at: expiresAt,
  })
  process.send?.({ shareToken } satisfies DemoMessage) // Only its hash is stored; the service keeps the token for the next start.
  process.stdout.write(`demo: shared at ${baseUrl}/s/${shareToken} with the password ${SHARE_PASSWORD}\n`)
}

const serviceIsGone = () => process.exit(1)
process.once('disconnect', serviceIsGone)
await main()
process.off('disconnect', serviceIsGone)
process.disconnect?.()
