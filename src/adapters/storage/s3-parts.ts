/** Large uploads to S3: a multipart upload with presigned part URLs. S3 itself keeps the progress. */
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListPartsCommand,
  UploadPartCommand,
  type CreateMultipartUploadCommandInput,
  type Part,
  type S3Client,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { checkContentType } from './keys.ts'
import { explainS3 } from './s3-errors.ts'
import { StorageError, type ObjectRef, type MultipartUploads } from '#ports/storage.ts'

const MIB = 1024 * 1024
/** S3 accepts at most 10,000 parts, of at least 5 MiB each except the last. */
const MIN_PART_BYTES = 16 * MIB
const MAX_PARTS = 10_000

interface Means {
  client: S3Client
  /** Signs URLs that clients outside use. */
  signer: S3Client
  encryption: Pick<CreateMultipartUploadCommandInput, 'ServerSideEncryption' | 'SSEKMSKeyId'>
  at(ref: ObjectRef): { Bucket: string; Key: string }
  lifetime(seconds: number): { expiresIn: number; signingDate: Date }
}

export function createMultipartUploads({ client, signer, encryption, at, lifetime }: Means): MultipartUploads {
  return {
    partBytes: (total) => Math.max(MIN_PART_BYTES, Math.ceil(total / MAX_PARTS / MIB) * MIB),
    async create(ref, contentType) {
      checkContentType(contentType)
      const command = new CreateMultipartUploadCommand({ ...at(ref), ...encryption, ContentType: contentType })
      const { UploadId } = await explained(client.send(command))
      return UploadId!
    },
    async receivedBytes({ id, partBytes, totalBytes, ...ref }, signal) {
      const parts = await listParts(client, { ...at(ref), UploadId: id }, signal)
      return parts === null ? null : inARow(parts, partBytes, totalBytes).bytes
    },
    async signPart({ id, number, expiresInSeconds, ...ref }) {
      const command = new UploadPartCommand({ ...at(ref), UploadId: id, PartNumber: number })
      return await explained(getSignedUrl(signer, command, lifetime(expiresInSeconds)))
    },
    async complete({ id, partBytes, totalBytes, ...ref }, signal) {
      const upload = { ...at(ref), UploadId: id }
      const all = await listParts(client, upload, signal)
      if (all === null) return
      const { parts, bytes } = inARow(all, partBytes, totalBytes)
      if (bytes < totalBytes) throw new StorageError('not-found', `Only ${bytes} of ${totalBytes} bytes are uploaded`)
      const Parts = parts.map(({ PartNumber, ETag }) => ({ PartNumber, ETag }))
      await explained(client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } })), signal)
    },
    async abort({ id, ...ref }) {
      await explained(client.send(new AbortMultipartUploadCommand({ ...at(ref), UploadId: id }))).catch((error: unknown) => {
        if (!(error instanceof StorageError && error.code === 'not-found')) throw error
      })
    },
  }
}

/** Null: the upload does not exist, or no longer. */
export async function listParts(
  client: S3Client,
  upload: { Bucket: string; Key: string; UploadId: string },
  signal?: AbortSignal,
): Promise<Part[] | null> {
  const parts: Part[] = []
  let marker: string | undefined
  try {
    for (;;) {
      const command = new ListPartsCommand({ ...upload, ...(marker === undefined ? {} : { PartNumberMarker: marker }) })
      const page = await explained(client.send(command, signal ? { abortSignal: signal } : {}), signal)
      parts.push(...(page.Parts ?? []))
      if (!page.IsTruncated) return parts
      marker = page.NextPartNumberMarker
    }
  } catch (error) {
    if (error instanceof StorageError && error.code === 'not-found') return null
    throw error
  }
}

/** Parts from the first on, up to the first that is missing or has a wrong length. */
function inARow(all: readonly Part[], partBytes: number, totalBytes: number): { parts: Part[]; bytes: number } {
  const byNumber = new Map(all.map((part) => [part.PartNumber, part]))
  const parts: Part[] = []
  let bytes = 0
  while (bytes < totalBytes) {
    const part = byNumber.get(parts.length + 1)
    if (part?.Size !== Math.min(partBytes, totalBytes - bytes)) break
    parts.push(part)
    bytes += part.Size
  }
  return { parts, bytes }
}

async function explained<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw explainS3(error, signal)
  }
}
