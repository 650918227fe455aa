/** Large files, in parts that are sent several at a time, each to its own signed URL and with its checksum. */
import type { Caller, CallOptions } from './client.ts'
import type { UploadsPartsOutput } from './generated/uploads.ts'
import { md5Of } from './md5.ts'
import { AbortError } from './problem.ts'
import { put, type Source } from './upload-put.ts'

/** Smaller files are sent whole or in a few chunks. */
export const PARTS_FROM_BYTES = 32 * 1024 * 1024
const PARTS_IN_FLIGHT = 4
/** Of the largest files, whose parts have hundreds of MB, fewer are sent at a time: a part may be in memory. */
const BYTES_IN_FLIGHT = 256 * 1024 * 1024
/** URLs per call: they expire, so that a slow connection would not use more of them. */
const PAGE_SIZE = 32
/** Up to 1 GiB with parts of the smallest size, so that smaller files are compared as a whole. */
const SAMPLE_PARTS = 64

type Part = UploadsPartsOutput['parts'][number]

interface PartsTransfer {
  readonly uploadId: string
  readonly call: CallOptions
  readonly signal: AbortSignal | undefined
  /** Called with the number of bytes of the file that have arrived. */
  moved(bytes: number): void
  /** Parts that another process has sent are compared with the file. Null: this process has sent them all. */
  readonly comparison: Comparison | null
}

/** What has arrived was sent by another process, perhaps from a file that has changed since. */
interface Comparison {
  readonly done: Set<number>
  /** A sample is compared, because a file can take hours to read; all, once a part differs. */
  isComplete: boolean
}

/** Sends what is missing. After a failure, call it again. */
export async function sendParts(client: Caller, source: Source, transfer: PartsTransfer): Promise<void> {
  const request = async (page: { after: number; limit: number } | { numbers: readonly number[] }) =>
    await client.call<UploadsPartsOutput>(
      'uploads.parts',
      { upload_id: transfer.uploadId, file_name: source.name, content_type: source.type, size_bytes: source.size, ...page },
      transfer.call,
      'read',
    )
  let arrived: number | null = null
  const onPart = (bytes: number) => transfer.moved((arrived = (arrived ?? 0) + bytes))
  for (let after: number | null = 0; after !== null;) {
    const page: UploadsPartsOutput = await request({ after, limit: PAGE_SIZE })
    if (arrived === null) onPart(page.received_bytes)
    const changed = await changedParts(source, page, transfer)
    if (changed.length > 0 && !transfer.comparison!.isComplete) {
      transfer.comparison!.isComplete = true
      after = 0
      continue
    }
    for (const numbers of inPages(changed)) {
      const { parts } = await request({ numbers })
      onPart(-parts.reduce((sum, { length }) => sum + length, 0))
      await sendAll(source, parts, transfer.signal, onPart)
      for (const number of numbers) transfer.comparison!.done.add(number)
    }
    await sendAll(source, page.parts, transfer.signal, onPart)
    for (const { number } of page.parts) transfer.comparison?.done.add(number)
    after = page.next
  }
}

/** Parts that arrived from a file of the same name and size, but with other bytes. */
async function changedParts(source: Source, page: UploadsPartsOutput, { comparison, signal }: PartsTransfer): Promise<number[]> {
  const changed: number[] = []
  if (comparison === null) return changed
  const every = comparison.isComplete ? 1 : Math.ceil(page.part_count / SAMPLE_PARTS)
  for (const { number, md5 } of page.received) {
    if (md5 === null || comparison.done.has(number) || (number - 1) % every !== 0) continue
    signal?.throwIfAborted()
    const offset = (number - 1) * page.part_bytes
    const { hex } = await md5Of(await source.read(offset, Math.min(source.size, offset + page.part_bytes)))
    if (hex === md5) comparison.done.add(number)
    else changed.push(number)
  }
  return changed
}

function* inPages(numbers: readonly number[]): Iterable<number[]> {
  for (let first = 0; first < numbers.length; first += PAGE_SIZE) yield numbers.slice(first, first + PAGE_SIZE)
}

/** Several at a time. After a failure no more are started, and those under way end first. */
async function sendAll(
  source: Source,
  parts: readonly Part[],
  signal: AbortSignal | undefined,
  onPart: (bytes: number) => void,
): Promise<void> {
  const queue = parts.values()
  let failure: { error: unknown } | null = null
  const worker = async () => {
    for (const part of queue) {
      if (failure) return
      try {
        await sendPart(source, part, signal)
        onPart(part.length)
      } catch (error) {
        failure ??= { error }
      }
    }
  }
  const inFlight = Math.max(1, Math.min(PARTS_IN_FLIGHT, Math.floor(BYTES_IN_FLIGHT / Math.max(1, parts[0]?.length ?? 1))))
  await Promise.all(Array.from({ length: inFlight }, worker))
  if (signal?.aborted) throw new AbortError(`PUT ${source.name}`, signal.reason)
  if (failure) throw (failure as { error: unknown }).error
}

async function sendPart(source: Source, { upload_url: url, offset, length }: Part, signal: AbortSignal | undefined): Promise<void> {
  const data = await source.read(offset, offset + length)
  await put(url, source, { 'content-md5': (await md5Of(data)).base64 }, data, signal)
}
