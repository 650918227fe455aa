import { existsSync } from 'node:fs'
import {
  download as open,
  isProblem,
  upload as send,
  waitFor,
  type Client,
  type FilePosition,
  type Uploaded,
  type UploadOptions,
  type UploadState,
} from '../../../client/src/core.ts'
import { openFile, saveTo } from '../../../client/src/node.ts'
import { connect } from '../config.ts'
import { UsageError } from '../failure.ts'
import { readFlags, type Run } from '../options.ts'
import { projectFor } from '../projects.ts'
import * as unfinished from '../unfinished.ts'
import { numbers } from './search.ts'
import { bar, json, note, print, size, table } from '../terminal.ts'

export const upload: Run = async (rest, options) => {
  const { values, lists, switches, positions } = readFlags(rest, {
    values: ['project', 'collection', 'crs', 'bounds'],
    lists: ['gcp'],
    switches: ['categorical', 'as-one-item', 'wait'],
  })
  if (positions.length === 0) throw new UsageError('Specify at least one file', 'groundtrack upload *.tif')
  const missing = positions.filter((file) => !existsSync(file))
  if (missing.length > 0) throw new UsageError(`No such file: ${missing.join(', ')}`)
  if (switches.has('as-one-item') && positions.length < 2)
    throw new UsageError('--as-one-item needs at least two files, one per band', 'groundtrack upload scene_*.tif --as-one-item')
  const position = positionOf(values, lists['gcp'] ?? [], positions.length)
  const client = connect(options)
  const projectId = await projectFor(client, values['project'], options)
  const files = await Promise.all(positions.map((file) => openFile(file)))
  const key = unfinished.keyOf([client.baseUrl, projectId, values['collection'] ?? null, switches.has('categorical')], positions)
  const resumed = await stillOpen(client, unfinished.find(key))
  if (resumed) note('Resuming the interrupted upload', options.quiet)
  const bars = new Map<string, ReturnType<typeof bar>>()
  let before = 0
  let isSent = false
  const total = files.reduce((sum, { data }) => sum + (data as Blob).size, 0)
  const finish = () => {
    for (const last of bars.values()) last.end()
    if (bars.size > 0 && process.stderr.isTTY) note('All files are uploaded; the service is checking them …', options.quiet)
    bars.clear()
    isSent = true
  }
  const uploaded = await sendWithHint(client, {
    projectId,
    files,
    collectionId: values['collection'],
    categorical: switches.has('categorical'),
    asOneItem: switches.has('as-one-item'),
    ...(position ? { positions: [position] } : {}),
    ...(resumed ? { resume: resumed } : {}),
    onState: (state) => unfinished.save(key, state),
    onProgress: ({ file, fileIndex, sentBytes }) => {
      if (isSent) return
      if (!bars.has(file)) {
        for (const former of bars.values()) former.end()
        bars.clear()
        before = files.slice(0, fileIndex).reduce((sum, { data }) => sum + (data as Blob).size, 0)
        bars.set(file, bar(file, options.quiet))
      }
      bars.get(file)!.at(sentBytes - before, (files[fileIndex]!.data as Blob).size)
      if (sentBytes === total) finish()
    },
  })
  unfinished.save(key, null)
  if (switches.has('wait')) await waitFor(client, { upload: uploaded.id })
  if (options.json || !process.stdout.isTTY)
    return await print(options.ndjson ? uploaded.item_ids.map((id) => `${json({ id }, false)}\n`).join('') : `${json(uploaded)}\n`)
  await print(
    `${table(
      ['FILE', 'ITEM'],
      positions.map((file, index) => [file, uploaded.item_ids[switches.has('as-one-item') ? 0 : index] ?? null]),
    )}\n`,
  )
}

/** The service keeps an image without a position, so the same command with a position completes the upload. */
async function sendWithHint(client: Client, request: UploadOptions): Promise<Uploaded> {
  try {
    return await send(client, request)
  } catch (error) {
    if (isProblem(error, 'position-required') && request.files.length === 1)
      note('Run the same command again with --crs EPSG:4326 --bounds LEFT,BOTTOM,RIGHT,TOP; the file is not uploaded again', false)
    throw error
  }
}

function positionOf({ crs, bounds }: Record<string, string>, gcps: readonly string[], fileCount: number): FilePosition | null {
  if (crs === undefined) {
    if (bounds !== undefined || gcps.length > 0)
      throw new UsageError('--bounds and --gcp need --crs', 'groundtrack upload scan.tif --crs EPSG:4326 …')
    return null
  }
  if (fileCount > 1) throw new UsageError('--crs applies to one file; upload the files one at a time')
  return {
    crs,
    ...(bounds === undefined ? {} : { bounds: numbers(bounds, 'bounds', 4) }),
    ...(gcps.length === 0 ? {} : { gcps: gcps.map(controlPoint) }),
  }
}

function controlPoint(text: string): { column: number; row: number; x: number; y: number } {
  const [column, row, x, y] = numbers(text, 'gcp', 4) as [number, number, number, number]
  return { column, row, x, y }
}

/** The upload, if its session is still open. */
async function stillOpen(client: Client, state: UploadState | null): Promise<UploadState | null> {
  if (!state) return null
  try {
    const { status } = await client.call<{ status: string }>('uploads.progress', { upload_id: state.uploadId }, {}, 'read')
    return status === 'initiated' || status === 'uploading' ? state : null
  } catch (error) {
    if (isProblem(error, 'not-found', 'forbidden')) return null
    throw error
  }
}

export const download: Run = async (rest, options) => {
  const { values, positions } = readFlags(rest, { values: ['asset', 'output'], positions: 1 })
  const [itemId] = positions
  if (itemId === undefined) throw new UsageError('Specify an item', 'groundtrack download ITEM -o FILE')
  const client = connect(options)
  const progress = bar(itemId, options.quiet)
  const asset = await open(client, {
    itemId,
    assetKey: values['asset'],
    onProgress: ({ receivedBytes, totalBytes }) => progress.at(receivedBytes, totalBytes),
  })
  const target = values['output'] ?? nameIn(asset.url)
  if (target === '-') {
    for await (const chunk of asset) await print(chunk)
    return
  }
  await saveTo(target, asset)
  progress.end()
  note(`Wrote ${target} (${asset.mediaType}${asset.sizeBytes === null ? '' : `, ${size(asset.sizeBytes)}`})`, options.quiet)
}

const nameIn = (url: string) => decodeURIComponent(new URL(url).pathname.split('/').at(-1) ?? '').replaceAll(/[^\w.-]/g, '_') || 'download'
