/** The storage port on an S3-compatible service. Our buckets are prefixes of one S3 bucket: projects come and go, S3 buckets are few. */
import { Readable } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type GetObjectCommandOutput,
  type PutObjectCommandInput,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { Clock } from '#core/clock.ts'
import { metered } from './body.ts'
import { checkBucket, checkContentType, checkPrefix, checkRef, contentDisposition } from './keys.ts'
import {
  checkedRange,
  checkedSeconds,
  LIST_PAGE_SIZE,
  objectMissing,
  STALE_AFTER_MS,
  StorageError,
  type AccessLogs,
  type ListOptions,
  type ObjectBody,
  type ObjectInfo,
  type ObjectRef,
  type ObjectSource,
  type Page,
  type MultipartUploads,
  type PutOptions,
  type PutResult,
  type ReadOptions,
  type SignGet,
  type SignPut,
  type Storage,
} from '#ports/storage.ts'
import { COUNT_PARAMETER, openAccessLogs, type AccessLogPlace } from './s3-access-logs.ts'
import { copyObject } from './s3-copy.ts'
import { explainS3 } from './s3-errors.ts'
import { createMultipartUploads, listParts } from './s3-parts.ts'

/** 10,000 parts of this size are 160 GB; three are in memory at a time. */
const PART_BYTES = 16 * 1024 * 1024
const PARTS_IN_FLIGHT = 3
const CONNECTION_TIMEOUT_MS = 5_000
const IDLE_TIMEOUT_MS = 60_000
/** All tries of a request that moves few bytes: the caller of an operation waits for it. */
const ANSWER_MS = 20_000
/** A store copies at least so fast; a large object may take longer to be copied. */
const COPIED_BYTES_PER_MS = 20_000
const MAX_TRIES = 4
const DEFAULT_TYPE = 'application/octet-stream'
const DEFAULT_REGION = 'us-east-1'

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

export interface S3Encryption {
  readonly algorithm: 'AES256' | 'aws:kms'
  /** Empty: the key of the account. */
  readonly kmsKey: string
}

export interface S3StoreOptions {
  /** `s3://bucket/prefix`, the prefix optional. */
  url: string
  /** Empty: Amazon S3. Other services are addressed in path style. */
  endpoint: string
  /** Where clients outside reach the same service, for signed URLs; empty: at `endpoint`. */
  publicEndpoint?: string
  /** How objects that the platform writes are encrypted; null: as the bucket says. */
  encryption?: S3Encryption | null
  /** Where the service delivers its access logs, from which downloads are counted; null: nowhere. */
  accessLogs?: AccessLogPlace | null
  /** Empty: from the AWS variables and files. */
  region: string
  clock: Clock
  /** Default: the usual chain of AWS variables, files and roles. */
  credentials?: S3Credentials
  /** Larger objects are copied in parts. For tests. */
  maxSingleCopyBytes?: number
  /** How long the store can take to answer. For tests. */
  answerMs?: number
}

export function openS3Store(options: S3StoreOptions): S3Store {
  const client = clientOf(options, options.endpoint)
  return new S3Store(client, options.publicEndpoint ? clientOf(options, options.publicEndpoint) : client, options)
}

function clientOf(options: S3StoreOptions, endpoint: string): S3Client {
  const region = options.region || (endpoint ? DEFAULT_REGION : '')
  return new S3Client({
    ...(region ? { region } : {}),
    ...(endpoint ? { endpoint, forcePathStyle: true } : {}),
    ...(options.credentials ? { credentials: options.credentials } : {}),
    // Default checksums would become part of presigned URLs, and compatible stores reject them.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: MAX_TRIES,
    requestHandler: { connectionTimeout: CONNECTION_TIMEOUT_MS, socketTimeout: IDLE_TIMEOUT_MS },
  })
}

export class S3Store implements Storage {
  readonly kind = 's3'
  /** We cannot observe what its clients fetch, except in its logs. */
  readonly countsEgress: boolean
  readonly accessLogs: AccessLogs | null
  readonly multipart: MultipartUploads
  readonly #client: S3Client
  /** Signs URLs that clients outside use; it sends nothing. */
  readonly #signer: S3Client
  readonly #bucket: string
  /** Empty, or with a trailing slash. */
  readonly #prefix: string
  readonly #clock: Clock
  readonly #endpoints: readonly string[]
  readonly #encryption: Encrypted
  readonly #maxSingleCopyBytes: number | undefined
  readonly #answerMs: number

  constructor(client: S3Client, signer: S3Client, options: S3StoreOptions) {
    const [, bucket, prefix = ''] = /^s3:\/\/([^/]+)\/?(.*?)\/?$/.exec(options.url) ?? []
    if (!bucket) throw new StorageError('invalid-name', 'STORAGE_URL must be s3://bucket/prefix')
    this.#client = client
    this.#signer = signer
    this.#bucket = bucket
    this.#prefix = prefix && `${prefix}/`
    this.#clock = options.clock
    this.#endpoints = [options.endpoint, options.publicEndpoint ?? ''].filter((endpoint) => endpoint !== '')
    this.#encryption = encryptedBy(options.encryption ?? null)
    this.#maxSingleCopyBytes = options.maxSingleCopyBytes
    this.#answerMs = options.answerMs ?? ANSWER_MS
    this.accessLogs = options.accessLogs ? openAccessLogs(client, options.accessLogs, bucket) : null
    this.countsEgress = this.accessLogs !== null
    this.multipart = createMultipartUploads({
      client,
      signer,
      encryption: this.#encryption,
      at: (ref) => {
        checkRef(ref)
        return this.#at(ref)
      },
      lifetime: (seconds) => this.#lifetime(seconds),
    })
  }

  owns(address: URL): boolean {
    if (this.#endpoints.length > 0) return this.#endpoints.some((endpoint) => address.origin === new URL(endpoint).origin)
    return address.protocol === 'https:' && address.host.startsWith(`${this.#bucket}.s3.`) && address.host.endsWith('.amazonaws.com')
  }

  /** A prefix need not be created. */
  async createBucket(bucket: string): Promise<void> {
    checkBucket(bucket)
  }

  async deleteBucket(bucket: string, signal?: AbortSignal): Promise<void> {
    for (;;) {
      const { objects } = await this.list(bucket, { signal })
      if (objects.length === 0) return
      const Delete = { Objects: objects.map(({ key }) => ({ Key: this.#name({ bucket, key }) })), Quiet: true }
      const { Errors = [] } = await explained(
        this.#client.send(new DeleteObjectsCommand({ Bucket: this.#bucket, Delete }), given(signal)),
        signal,
      )
      if (Errors.length > 0)
        throw new StorageError('unavailable', `The object store did not delete ${Errors.length} objects: ${Errors[0]!.Code}`)
    }
  }

  /** Small bodies in one request, large ones in parts that become an object together. */
  async put(at: ObjectRef, body: ObjectBody, { contentType, maxBytes, signal, onProgress }: PutOptions): Promise<PutResult> {
    checkRef(at)
    checkContentType(contentType)
    signal?.throwIfAborted()
    const meter = metered(body, { maxBytes, signal })
    const stop = new AbortController()
    const onAbort = () => stop.abort()
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      const params = {
        ...this.#at(at),
        ...this.#encryption,
        ContentType: contentType,
        Body: Readable.from(meter.chunks, { objectMode: false, highWaterMark: 1024 * 1024 }),
      }
      const upload = new Upload({
        client: this.#client,
        params,
        partSize: PART_BYTES,
        queueSize: PARTS_IN_FLIGHT,
        leavePartsOnError: false,
        abortController: stop,
      })
      upload.on('httpUploadProgress', ({ loaded }) => onProgress?.(loaded ?? 0))
      const { ETag } = await explained(upload.done(), signal)
      return { size: meter.size, etag: ETag!, sha256: meter.hash.digest('hex') }
    } finally {
      signal?.removeEventListener('abort', onAbort)
    }
  }

  async read(at: ObjectRef, options: ReadOptions = {}): Promise<Readable> {
    const info = await this.#require(at, options.signal)
    const { offset, length } = checkedRange(info.size, options)
    return length === 0 ? Readable.from([]) : ((await this.#get(at, info.etag, offset, length, options.signal)) as Readable)
  }

  async stat(at: ObjectRef, signal?: AbortSignal): Promise<ObjectInfo | null> {
    checkRef(at)
    try {
      const head = await this.#answered((abortSignal) => this.#client.send(new HeadObjectCommand(this.#at(at)), { abortSignal }), signal)
      return {
        size: head.ContentLength!,
        etag: head.ETag!,
        sha256: null,
        contentType: head.ContentType ?? DEFAULT_TYPE,
        lastModified: head.LastModified!,
      }
    } catch (error) {
      if (error instanceof StorageError && error.code === 'not-found') return null
      throw error
    }
  }

  async list(bucket: string, { prefix = '', cursor = null, limit = LIST_PAGE_SIZE, signal }: ListOptions = {}): Promise<Page> {
    checkBucket(bucket)
    checkPrefix(prefix)
    const start = `${this.#prefix}${bucket}/`
    const command = new ListObjectsV2Command({
      Bucket: this.#bucket,
      Prefix: start + prefix,
      MaxKeys: Math.min(limit, LIST_PAGE_SIZE),
      ...(cursor === null ? {} : { StartAfter: start + cursor }),
    })
    const { Contents = [], IsTruncated } = await this.#answered((abortSignal) => this.#client.send(command, { abortSignal }), signal)
    const objects = Contents.map(({ Key, Size }) => ({ key: Key!.slice(start.length), size: Size! }))
    return { objects, next: IsTruncated ? (objects.at(-1)?.key ?? null) : null }
  }

  async remove(at: ObjectRef): Promise<void> {
    checkRef(at)
    await this.#answered((abortSignal) => this.#client.send(new DeleteObjectCommand(this.#at(at)), { abortSignal }))
  }

  async copy(from: ObjectRef, to: ObjectRef, signal?: AbortSignal): Promise<ObjectInfo> {
    checkRef(to)
    const info = await this.#require(from, signal)
    const names = {
      bucket: this.#bucket,
      from: this.#name(from),
      to: this.#name(to),
      info,
      maxSingleBytes: this.#maxSingleCopyBytes,
      encryption: this.#encryption,
    }
    await this.#answered(
      (abortSignal) => copyObject(this.#client, { ...names, signal: abortSignal }),
      signal,
      this.#answerMs + info.size / COPIED_BYTES_PER_MS,
    )
    return await this.#require(to, signal)
  }

  async signPut({ contentType, expiresInSeconds, ...at }: SignPut): Promise<string> {
    checkRef(at)
    checkContentType(contentType)
    const command = new PutObjectCommand({ ...this.#at(at), ContentType: contentType })
    return await explained(
      getSignedUrl(this.#signer, command, { ...this.#lifetime(expiresInSeconds), signableHeaders: new Set(['content-type']) }),
    )
  }

  async signGet({ contentType, fileName, countFor, isInternal = false, expiresInSeconds, ...at }: SignGet): Promise<string> {
    checkRef(at)
    if (contentType !== undefined) checkContentType(contentType)
    const command = new GetObjectCommand({
      ...this.#at(at),
      ResponseContentDisposition: contentDisposition(fileName ?? null),
      ...(contentType === undefined ? {} : { ResponseContentType: contentType }),
    })
    if (countFor !== undefined && this.accessLogs) addParameter(command, COUNT_PARAMETER, countFor)
    return await explained(getSignedUrl(isInternal ? this.#client : this.#signer, command, this.#lifetime(expiresInSeconds)))
  }

  async source(at: ObjectRef, signal?: AbortSignal): Promise<ObjectSource> {
    const info = await this.#require(at, signal)
    const fetch = async (offset: number, length: number, own?: AbortSignal): Promise<Uint8Array> => {
      checkedRange(info.size, { offset, length })
      if (length === 0) return new Uint8Array(0)
      const body = await this.#get(at, info.etag, offset, length, own)
      const bytes = await explained(body.transformToByteArray(), own)
      if (bytes.length !== length) throw new StorageError('unavailable', 'The object store sent an incomplete response')
      return bytes
    }
    return { key: `${at.bucket}/${at.key}:${info.etag}`, size: info.size, etag: info.etag, path: null, fetch, close: async () => {} }
  }

  /** Parts of uploads that were never completed are invisible but billed. */
  async sweep(signal?: AbortSignal): Promise<number> {
    const olderThan = this.#clock.now().getTime() - STALE_AFTER_MS
    let ended = 0
    let marker: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {}
    for (;;) {
      const page = await explained(
        this.#client.send(new ListMultipartUploadsCommand({ Bucket: this.#bucket, Prefix: this.#prefix, ...marker }), given(signal)),
        signal,
      )
      for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
        if (!Initiated || Initiated.getTime() >= olderThan) continue
        // A large file on a slow connection takes longer than a day; it is kept while parts arrive.
        const parts = await listParts(this.#client, { Bucket: this.#bucket, Key: Key!, UploadId: UploadId! }, signal)
        if (parts?.some(({ LastModified }) => LastModified && LastModified.getTime() >= olderThan)) continue
        await explained(this.#client.send(new AbortMultipartUploadCommand({ Bucket: this.#bucket, Key, UploadId }), given(signal)), signal)
        ended++
      }
      if (!page.IsTruncated) return ended
      marker = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
    }
  }

  uriOf(at: ObjectRef): string {
    return `s3://${this.#bucket}/${this.#name(at)}`
  }

  /** A missing object or permission is a response too: what the store contains does not matter here. */
  async probe(signal?: AbortSignal): Promise<void> {
    try {
      await this.#client.send(new HeadObjectCommand({ Bucket: this.#bucket, Key: `${this.#prefix}probe` }), given(signal))
    } catch (error) {
      const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode ?? 0
      if (status < 400 || status >= 500) throw explainS3(error, signal)
    }
  }

  async close(): Promise<void> {
    this.#client.destroy()
    this.#signer.destroy()
  }

  #name({ bucket, key }: ObjectRef): string {
    return `${this.#prefix}${bucket}/${key}`
  }

  #at(ref: ObjectRef): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: this.#name(ref) }
  }

  #lifetime(seconds: number): { expiresIn: number; signingDate: Date } {
    return { expiresIn: checkedSeconds(seconds), signingDate: this.#clock.now() }
  }

  async #require(at: ObjectRef, signal?: AbortSignal): Promise<ObjectInfo> {
    signal?.throwIfAborted()
    const info = await this.stat(at, signal)
    if (!info) throw objectMissing()
    return info
  }

  /** A range of one version: another tag means that the object was replaced, which is an error. */
  async #get(
    at: ObjectRef,
    etag: string,
    offset: number,
    length: number,
    signal?: AbortSignal,
  ): Promise<NonNullable<GetObjectCommandOutput['Body']>> {
    const command = new GetObjectCommand({ ...this.#at(at), Range: `bytes=${offset}-${offset + length - 1}`, IfMatch: etag })
    const { Body, ContentLength } = await this.#answered((abortSignal) => this.#client.send(command, { abortSignal }), signal)
    if (!Body || ContentLength !== length) throw new StorageError('unavailable', 'The object store returned another range than requested')
    return Body
  }

  /** Sends a request, with its repetitions, until the store answers or the deadline ends it. */
  async #answered<T>(send: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal, deadlineMs = this.#answerMs): Promise<T> {
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), deadlineMs) // Ended by an answer: a body that follows may take longer.
    try {
      return await send(signal ? AbortSignal.any([signal, late.signal]) : late.signal)
    } catch (error) {
      if (late.signal.aborted && !signal?.aborted)
        throw new StorageError('unavailable', 'The object store did not answer in time', { cause: error })
      throw explainS3(error, signal)
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Parameters of every request that creates an object. */
export type Encrypted = Pick<PutObjectCommandInput, 'ServerSideEncryption' | 'SSEKMSKeyId'>

function encryptedBy(encryption: S3Encryption | null): Encrypted {
  if (!encryption) return {}
  return { ServerSideEncryption: encryption.algorithm, ...(encryption.kmsKey ? { SSEKMSKeyId: encryption.kmsKey } : {}) }
}

const given = (signal: AbortSignal | undefined): { abortSignal?: AbortSignal } => (signal ? { abortSignal: signal } : {})

async function explained<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw explainS3(error, signal)
  }
}

/** Adds a parameter to the URL of a command before it is signed. */
function addParameter(command: GetObjectCommand, name: string, value: string): void {
  command.middlewareStack.add(
    (next) => (args) => {
      const request = args.request as { query?: Record<string, string> }
      request.query = { ...request.query, [name]: value }
      return next(args)
    },
    { step: 'build', name: `add ${name}` },
  )
}
