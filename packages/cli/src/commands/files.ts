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
    switches: ['categorical', 'wait'],
  })
  if (positions.length === 0) throw new UsageError('Name at least one file', 'groundtrack upload *.tif')
  const missing = positions.filter((file) => !existsSync(file))
  if (missing.length > 0) throw new UsageError(`No such file: ${missing.join(', ')}`)
  const position = positionOf(values, lists['gcp'] ?? [], positions.length)
  const client = connect(options)
  const projectId = await projectFor(client, values['project'], options)
  const files = await Promise.all(positions.map((file) => openFile(file)))
  const key = unfinished.keyOf([client.baseUrl, projectId, values['collection'] ?? null, switches.has('categorical')], positions)
  const begun = await stillOpen(client, unfinished.find(key))
  if (begun) note('Continuing the upload that broke off', options.quiet)
  const bars = new Map<string, ReturnType<typeof bar>>()
  let before = 0
  let isSent = false
  const total = files.reduce((sum, { data }) => sum + (data as Blob).size, 0)
  const finish = () => {
    for (const last of bars.values()) last.end()
    if (bars.size > 0 && process.stderr.isTTY) note('Everything is sent; the service is reading it …', options.quiet)
    bars.clear()
    isSent = true
  }
  const made = await sendOrSayHow(client, {
    projectId,
    files,
    collectionId: values['collection'],
    categorical: switches.has('categorical'),
    ...(position ? { positions: [position] } : {}),
    ...(begun ? { resume: begun } : {}),
    onState: (state) => unfinished.keep(key, state),
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
  unfinished.keep(key, null)
  if (switches.has('wait')) await waitFor(client, { upload: made.id })
  if (options.json || !process.stdout.isTTY)
    return await print(options.ndjson ? made.item_ids.map((id) => `${json({ id }, false)}\n`).join('') : `${json(made)}\n`)
  await print(
    `${table(
      ['FILE', 'ITEM'],
      positions.map((file, index) => [file, made.item_ids[index] ?? null]),
    )}\n`,
  )
}

/** An image that lies nowhere is kept by the service: the same command with a position goes on. */
async function sendOrSayHow(client: Client, wanted: UploadOptions): Promise<Uploaded> {
  try {
    return await send(client, wanted)
  } catch (error) {
    if (isProblem(error, 'position-required') && wanted.files.length === 1)
      note('Give the same command again with --crs EPSG:4326 --bounds LEFT,BOTTOM,RIGHT,TOP; the file is not sent again', false)
    throw error
  }
}

function positionOf({ crs, bounds }: Record<string, string>, gcps: readonly string[], fileCount: number): FilePosition | null {
  if (crs === undefined) {
    if (bounds !== undefined || gcps.length > 0)
      throw new UsageError('A position needs --crs', 'groundtrack upload scan.tif --crs EPSG:4326 …')
    return null
  }
  if (fileCount > 1) throw new UsageError('A position is that of one file: upload the files one by one')
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

/** The upload, if the service still waits for its files. */
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
  if (itemId === undefined) throw new UsageError('Name the item', 'groundtrack download ITEM -o FILE')
  const client = connect(options)
  const shown = bar(itemId, options.quiet)
  const found = await open(client, {
    itemId,
    assetKey: values['asset'],
    onProgress: ({ receivedBytes, totalBytes }) => shown.at(receivedBytes, totalBytes),
  })
  const target = values['output'] ?? nameIn(found.url)
  if (target === '-') {
    for await (const part of found) await print(part)
    return
  }
  await saveTo(target, found)
  shown.end()
  note(`Wrote ${target} (${found.mediaType}${found.sizeBytes === null ? '' : `, ${size(found.sizeBytes)}`})`, options.quiet)
}

const nameIn = (url: string) => decodeURIComponent(new URL(url).pathname.split('/').at(-1) ?? '').replaceAll(/[^\w.-]/g, '_') || 'download'
