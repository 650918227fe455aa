/**
 * Downloads in the server access logs of S3: text objects that S3 delivers to a bucket, within hours and in no strict order. Signed
 * URLs carry the organization to count for in a parameter that S3 ignores and logs; other requests, such as our own, have none.
 */
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { GetObjectCommand, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3'
import type { AccessLogs, LoggedDownload } from '#ports/storage.ts'
import { explainS3 } from './s3-errors.ts'

/** S3 ignores parameters that begin with `x-`, and logs them with the rest of the request. */
export const COUNT_PARAMETER = 'x-groundtrack-for'

/** `YYYY-mm-DD-HH-MM-SS`, after the prefix and before a unique string. */
const DELIVERED = /^(\d{4})-(\d\d)-(\d\d)-(\d\d)-(\d\d)-(\d\d)-/
/** Owner, bucket, [time], address, requester, request ID, operation, key, "request", status, error, bytes sent. */
const ENTRY = /^\S+ (\S+) \[([^\]]+)\] \S+ \S+ \S+ (\S+) \S+ "\S+ (\S+)[^"]*" (\d+) \S+ (\d+) /
const TIME = /^(\d\d)\/(\w{3})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)$/
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** `prefix` is exactly what the names of the logs begin with. */
export interface AccessLogPlace {
  readonly bucket: string
  readonly prefix: string
}

/** `imagery` is the bucket whose downloads count; a bucket of logs can hold those of others, too. */
export function openAccessLogs(client: S3Client, { bucket, prefix }: AccessLogPlace, imagery: string): AccessLogs {
  return {
    prefix,
    nameAt: (time) => prefix + time.toISOString().slice(0, 19).replaceAll(/[T:]/g, '-'),
    timeOf(name) {
      const [, year, ...others] = DELIVERED.exec(name.slice(prefix.length)) ?? []
      if (!name.startsWith(prefix) || year === undefined) return null
      const [month, day, hour, minute, second] = others.map(Number) as [number, number, number, number, number]
      return new Date(Date.UTC(Number(year), month - 1, day, hour, minute, second))
    },
    async list(after, limit, signal) {
      const command = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, StartAfter: after, MaxKeys: limit })
      const { Contents = [] } = await explained(client.send(command, { abortSignal: signal }), signal)
      return Contents.map(({ Key }) => Key!)
    },
    async *downloads(name, signal) {
      const { Body } = await explained(client.send(new GetObjectCommand({ Bucket: bucket, Key: name }), { abortSignal: signal }), signal)
      for await (const line of createInterface({ input: Body as Readable, crlfDelay: Infinity })) {
        const download = parseEntry(line, imagery)
        if (download) yield download
      }
    },
  }
}

/** Null for everything that is not a download to be counted: only a request with a valid signature was answered with bytes. */
export function parseEntry(line: string, imagery: string): LoggedDownload | null {
  const [, bucket, time, operation, target, status, bytes] = ENTRY.exec(line) ?? []
  if (bucket !== imagery || operation !== 'REST.GET.OBJECT' || (status !== '200' && status !== '206')) return null
  const organizationId = new URLSearchParams(target!.split('?')[1] ?? '').get(COUNT_PARAMETER)
  const at = timeIn(time!)
  if (organizationId === null || !UUID.test(organizationId) || at === null) return null
  return { organizationId, at, bytes: Number(bytes) }
}

function timeIn(text: string): Date | null {
  const [, day, month, year, clock, hours, minutes] = TIME.exec(text) ?? []
  const index = MONTHS.indexOf(month ?? '')
  if (index === -1) return null
  return new Date(`${year}-${String(index + 1).padStart(2, '0')}-${day}T${clock}${hours}:${minutes}`)
}

async function explained<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw explainS3(error, signal)
  }
}
