/** Fetches a file of an open scene: resumes a transfer that breaks off, and compares size and checksum with what the catalogue states. */
import { createHash, type Hash } from 'node:crypto'
import { open, type FileHandle } from 'node:fs/promises'
import { problem } from '#core/problem.ts'
import type { Context } from '#operation.ts'
import { VendorError } from '#ports/vendors/call.ts'
import type { DownloadedFile } from './process.ts'

/** Of one file; bands of open scenes have at most some GB. */
const MAX_FILE_BYTES = 16 * 1024 ** 3
/** Transfers that break off are resumed this many times; then the job is run again later. */
const MAX_RESUMPTIONS = 5
/** The multihash prefix of a SHA-256 with 32 bytes. */
const SHA256_PREFIX = '1220'

type DownloadContext = Pick<Context, 'vendors' | 'signal'>

interface Target {
  readonly path: string
  readonly onProgress: (fraction: number) => void
}

/** Returns the path. A file that is not what the catalogue states fails the job; a host that fails does not, at first. */
export async function downloadFile(context: DownloadContext, file: DownloadedFile, { path, onProgress }: Target): Promise<string> {
  const handle = await open(path, 'wx')
  const hash = createHash('sha256')
  try {
    const size = await transfer(context, file, { handle, hash, onProgress })
    if (file.sizeBytes !== null && size !== file.sizeBytes) throw changed(file, `has ${size} bytes; the catalogue states ${file.sizeBytes}`)
  } finally {
    await handle.close()
  }
  const stated = file.checksum?.toLowerCase() ?? ''
  if (stated.startsWith(SHA256_PREFIX) && stated !== `${SHA256_PREFIX}${hash.digest('hex')}`)
    throw changed(file, 'does not have the checksum that the catalogue states')
  return path
}

/** Which of the files of a scene the host failed to send. */
function named(error: unknown, { key }: DownloadedFile): unknown {
  if (!(error instanceof VendorError)) return error
  return new VendorError(error.code, error.hostName, `The file '${key}' cannot be copied: ${error.message}`, { cause: error })
}

const changed = ({ key }: DownloadedFile, what: string) => problem('bad-request', `The file '${key}' ${what}`)

interface Sink {
  readonly handle: FileHandle
  readonly hash: Hash
  readonly onProgress: (fraction: number) => void
}

async function transfer({ vendors, signal }: DownloadContext, file: DownloadedFile, { handle, hash, onProgress }: Sink): Promise<number> {
  let received = 0
  let version: string | null = null
  for (let resumptions = 0; ; resumptions++) {
    const before = received
    try {
      const response = await vendors.download(file.url, { offset: received, signal })
      if (received > 0 && (version === null || response.version !== version)) throw changed(file, 'changed at its host while it was copied')
      version = response.version
      if ((response.sizeBytes ?? 0) > MAX_FILE_BYTES) throw tooLarge(file)
      for await (const chunk of response.body) {
        received += chunk.byteLength
        if (received > MAX_FILE_BYTES) throw tooLarge(file)
        hash.update(chunk)
        await handle.write(chunk)
        if (response.sizeBytes !== null) onProgress(Math.min(1, received / response.sizeBytes))
      }
      return received
    } catch (error) {
      signal.throwIfAborted()
      const isTransient = error instanceof VendorError && ['unavailable', 'timeout'].includes(error.code)
      if (!isTransient || received === before || resumptions >= MAX_RESUMPTIONS) throw named(error, file)
    }
  }
}

const tooLarge = ({ key }: DownloadedFile) =>
  problem('bad-request', `The file '${key}' is larger than ${MAX_FILE_BYTES / 1024 ** 3} GiB; copy a part of the scene`)
