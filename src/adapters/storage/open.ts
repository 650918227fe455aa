import path from 'node:path'
import type { Clock } from '#core/clock.ts'
import { openFileStore, type FileStore } from './files.ts'
import type { S3Credentials, S3Encryption, S3Store } from './s3.ts'
import type { AccessLogPlace } from './s3-access-logs.ts'
import type { StoreSecrets } from './signature.ts'

export interface StorageSettings {
  /** Empty: files under `dataDir`. Else `s3://bucket/prefix`. */
  storageUrl: string
  /** Empty: Amazon S3. */
  s3Endpoint: string
  /** Empty: as `s3Endpoint`. */
  s3PublicEndpoint: string
  /** Null: as the bucket says. */
  s3Encryption: S3Encryption | null
  /** Null: downloads are counted when their URLs are signed. */
  s3AccessLogs: AccessLogPlace | null
  /** Empty: from the AWS variables and files. */
  s3Region: string
  /** Null: from the AWS variables, files and roles. */
  s3Credentials: S3Credentials | null
  dataDir: string
  /** Public URL of the embedded store's listener. */
  publicUrl: () => string
  /** All processes share them. */
  secrets: StoreSecrets
  clock: Clock
}

/** The store that the configuration selects. Only `kind` `files` needs a listener. */
export async function openStorage(settings: StorageSettings): Promise<FileStore | S3Store> {
  if (settings.storageUrl === '')
    return await openFileStore({
      root: path.join(settings.dataDir, 'objects'),
      publicUrl: settings.publicUrl,
      secrets: settings.secrets,
      clock: settings.clock,
      countsEgress: true,
    })
  const { openS3Store } = await import('./s3.ts') // It takes a third of a second and 35 MB, so load it only if used.
  return openS3Store({
    url: settings.storageUrl,
    endpoint: settings.s3Endpoint,
    publicEndpoint: settings.s3PublicEndpoint,
    encryption: settings.s3Encryption,
    accessLogs: settings.s3AccessLogs,
    region: settings.s3Region,
    ...(settings.s3Credentials ? { credentials: settings.s3Credentials } : {}),
    clock: settings.clock,
  })
}
