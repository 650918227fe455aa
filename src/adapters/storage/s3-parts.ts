/** Large uploads to S3: a multipart upload with presigned part URLs. S3 itself keeps the progress. */
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  ListPartsCommand,
  UploadPartCommand,
  type CreateMultipartUploadCommandInput,
  type Part,
  type S3Client,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { checkContentType } from './keys.ts'
import { explainS3 } from './s3-errors.ts'
import { partRange, StorageError, type MultipartUpload, type MultipartUploads, type ObjectRef } from '#ports/storage.ts'

const MD5_TAG = /^"?([0-9a-f]{32})"?$/

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
    async create(ref, contentType) {
      checkContentType(contentType)
      const command = new CreateMultipartUploadCommand({ ...at(ref), ...encryption, ContentType: contentType })
      const { UploadId, ServerSideEncryption } = await explained(client.send(command))
      // The tag of a part is its MD5, except with a key of KMS, which the bucket can prescribe too.
      return {
        id: UploadId!,
        hasMd5: !ServerSideEncryption?.startsWith('aws:kms') && !encryption.ServerSideEncryption?.startsWith('aws:kms'),
      }
    },
    async parts(upload, signal) {
      const all = await listParts(client, { ...at(refOf(upload)), UploadId: upload.id }, signal)
      return (
        all && wellFormed(all, upload).map(({ PartNumber, ETag }) => ({ number: PartNumber!, md5: upload.hasMd5 ? md5Of(ETag) : null }))
      )
    },
    async signPart({ id, number, expiresInSeconds, ...part }) {
      const { length } = partRange({ ...part, number })
      const command = new UploadPartCommand({ ...at(refOf(part)), UploadId: id, PartNumber: number, ContentLength: length })
      // The length is signed, so that nobody can store more than was reserved.
      return await explained(
        getSignedUrl(signer, command, { ...lifetime(expiresInSeconds), signableHeaders: new Set(['host', 'content-length']) }),
      )
    },
    async complete(upload, signal) {
      const { totalBytes, partBytes } = upload
      const target = { ...at(refOf(upload)), UploadId: upload.id }
      const all = await listParts(client, target, signal)
      if (all === null) return
      const parts = wellFormed(all, upload)
      const count = Math.ceil(totalBytes / partBytes)
      try {
        if (parts.length < count) throw new StorageError('not-found', `Only ${parts.length} of ${count} parts are uploaded`)
        const Parts = parts.map(({ PartNumber, ETag }) => ({ PartNumber, ETag }))
        await explained(client.send(new CompleteMultipartUploadCommand({ ...target, MultipartUpload: { Parts } })), signal)
      } catch (error) {
        // A concurrent call, or an earlier one whose response was lost, may have completed it.
        if (!(await isComplete(client, at(refOf(upload)), totalBytes, signal))) throw error
      }
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

/** The key of an upload belongs to it alone. */
async function isComplete(client: S3Client, target: { Bucket: string; Key: string }, size: number, signal?: AbortSignal): Promise<boolean> {
  return await client.send(new HeadObjectCommand(target), signal ? { abortSignal: signal } : {}).then(
    ({ ContentLength }) => ContentLength === size,
    () => false,
  )
}

/** Parts of the right length, by number. Another client can have sent anything to a signed URL. */
function wellFormed(all: readonly Part[], upload: Pick<MultipartUpload, 'partBytes' | 'totalBytes'>): Part[] {
  const count = Math.ceil(upload.totalBytes / upload.partBytes)
  return all
    .filter(({ PartNumber: number, Size }) => number! <= count && Size === partRange({ ...upload, number: number! }).length)
    .toSorted((a, b) => a.PartNumber! - b.PartNumber!)
}

const md5Of = (tag: string | undefined): string | null => MD5_TAG.exec(tag ?? '')?.[1] ?? null

const refOf = ({ bucket, key }: ObjectRef): ObjectRef => ({ bucket, key })

async function explained<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw explainS3(error, signal)
  }
}
