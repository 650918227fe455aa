/** Reads entries of a ZIP archive by its directory. Only what is asked for is unpacked, and never more than the limit. */
import { FileProblem, MAX_UNZIPPED_BYTES, MAX_ZIP_ENTRIES } from './limits.ts'

interface Entry {
  name: string
  method: number
  packedBytes: number
  offset: number
}

const END = 0x06054b50
const DIRECTORY = 0x02014b50
const LOCAL = 0x04034b50
const END_BYTES = 22
const MAX_COMMENT_BYTES = 65_535
const STORED = 0
const DEFLATED = 8
const IS_ENCRYPTED = 1
const ZIP64 = 0xffffffff

const broken = () => new FileProblem('The ZIP archive is damaged. Create it again.')

export interface Archive {
  names: readonly string[]
  read(name: string): Promise<Uint8Array>
}

export function openZip(bytes: Uint8Array): Archive {
  const entries = entriesOf(bytes)
  let left = MAX_UNZIPPED_BYTES
  return {
    names: entries.map(({ name }) => name),
    read: async (name) => {
      const entry = entries.find((each) => each.name === name)
      if (!entry) throw broken()
      const content = await unpack(bytes, entry, left)
      left -= content.length
      return content
    },
  }
}

function entriesOf(bytes: Uint8Array): Entry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let end = bytes.length - END_BYTES
  const least = Math.max(0, end - MAX_COMMENT_BYTES)
  while (end >= least && view.getUint32(end, true) !== END) end--
  if (end < least) throw broken()
  const count = view.getUint16(end + 10, true)
  if (count > MAX_ZIP_ENTRIES)
    throw new FileProblem(`The ZIP archive has more than ${MAX_ZIP_ENTRIES} files. Pack only the files of one layer.`)
  const entries: Entry[] = []
  let at = view.getUint32(end + 16, true)
  for (let index = 0; index < count; index++) {
    if (at + 46 > end || view.getUint32(at, true) !== DIRECTORY) throw broken()
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true)) as [
      number,
      number,
      number,
    ]
    if (view.getUint16(at + 8, true) & IS_ENCRYPTED) throw new FileProblem('The ZIP archive has a password. Pack it without one.')
    const [packedBytes, offset] = [view.getUint32(at + 20, true), view.getUint32(at + 42, true)]
    if (packedBytes === ZIP64 || offset === ZIP64 || at + 46 + nameLength > end) throw broken()
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength))
    entries.push({ name, method: view.getUint16(at + 10, true), packedBytes, offset })
    at += 46 + nameLength + extraLength + commentLength
  }
  return entries
}

async function unpack(bytes: Uint8Array, { method, packedBytes, offset }: Entry, limit: number): Promise<Uint8Array> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (offset + 30 > bytes.length || view.getUint32(offset, true) !== LOCAL) throw broken()
  const start = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true)
  if (start + packedBytes > bytes.length) throw broken()
  const packed = bytes.slice(start, start + packedBytes)
  if (method === STORED) return within(packed, limit)
  if (method !== DEFLATED) throw new FileProblem('The ZIP archive uses an unusual compression. Pack it again as a plain ZIP.')
  return await inflate(packed, limit)
}

function within(content: Uint8Array, limit: number): Uint8Array {
  if (content.length > limit) throw tooLarge()
  return content
}

const tooLarge = () => new FileProblem(`Unpacked, the archive has more than ${MAX_UNZIPPED_BYTES / 1024 / 1024} MB. Export a smaller area.`)

/** Counts while it unpacks: the size that an archive states about itself is not to be trusted. */
async function inflate(packed: Uint8Array<ArrayBuffer>, limit: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader()
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw broken()
    })
    if (done) break
    size += value.length
    if (size > limit) {
      await reader.cancel().catch(() => undefined)
      throw tooLarge()
    }
    parts.push(value)
  }
  const content = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    content.set(part, at)
    at += part.length
  }
  return content
}
