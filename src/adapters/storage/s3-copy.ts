import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  UploadPartCopyCommand,
  type CompletedPart,
  type CopyObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3'
import type { ObjectInfo } from '#ports/storage.ts'

/** Maximum size of one CopyObject, and the size of parts above it. */
const MAX_SINGLE_COPY_BYTES = 5 * 2 ** 30
const MAX_PART_BYTES = 512 * 2 ** 20
const PARTS_IN_FLIGHT = 4

interface CopyOptions {
  bucket: string
  from: string
  to: string
  info: ObjectInfo
  maxSingleBytes?: number | undefined
  /** Of the copy. */
  encryption: Pick<CopyObjectCommandInput, 'ServerSideEncryption' | 'SSEKMSKeyId'>
  signal?: AbortSignal | undefined
}

/** Copies within the service, without transferring bytes, and only the version that was seen. */
export async function copyObject(client: S3Client, options: CopyOptions): Promise<void> {
  const { bucket, from, to, info, encryption, maxSingleBytes = MAX_SINGLE_COPY_BYTES, signal } = options
  const source = { CopySource: encodeURI(`${bucket}/${from}`), CopySourceIfMatch: info.etag }
  const target = { Bucket: bucket, Key: to }
  const given = signal ? { abortSignal: signal } : {}
  if (info.size <= maxSingleBytes) return void (await client.send(new CopyObjectCommand({ ...target, ...source, ...encryption }), given))

  const { UploadId } = await client.send(
    new CreateMultipartUploadCommand({ ...target, ...encryption, ContentType: info.contentType }),
    given,
  )
  try {
    const partBytes = Math.min(MAX_PART_BYTES, maxSingleBytes)
    const Parts: CompletedPart[] = []
    const copyPart = async (PartNumber: number): Promise<void> => {
      const first = (PartNumber - 1) * partBytes
      const CopySourceRange = `bytes=${first}-${Math.min(first + partBytes, info.size) - 1}`
      const { CopyPartResult } = await client.send(
        new UploadPartCopyCommand({ ...target, ...source, UploadId, PartNumber, CopySourceRange }),
        given,
      )
      Parts[PartNumber - 1] = { PartNumber, ETag: CopyPartResult!.ETag }
    }
    const partCount = Math.ceil(info.size / partBytes)
    for (let done = 0; done < partCount; done += PARTS_IN_FLIGHT) {
      await Promise.all(Array.from({ length: Math.min(PARTS_IN_FLIGHT, partCount - done) }, (_, index) => copyPart(done + index + 1)))
    }
    await client.send(new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } }), given)
  } catch (error) {
    // The first error is reported; a lifecycle rule removes the rest.
    await client.send(new AbortMultipartUploadCommand({ ...target, UploadId })).catch(() => {})
    throw error
  }
}
