import path from 'node:path'
import type { Clock } from '#core/clock.ts'
import { openFileStore, type FileStore } from './files.ts'
import type { S3Store } from './s3.ts'

export interface StorageSettings {
  /** Empty: files under `dataDir`. Else `s3://bucket/prefix`. */
  storageUrl: string
  /** Empty: Amazon's own. */
  s3Endpoint: string
  /** Empty: what the AWS variables and files say. */
  s3Region: string
  dataDir: string
  /** Where clients reach the listener of the embedded store. */
  publicUrl: () => string
  /** 32 bytes that all processes share. */
  secret: Buffer
  clock: Clock
}

/** The store that the configuration names. `kind` tells which: only `files` needs a listener. */
export async function openStorage(settings: StorageSettings): Promise<FileStore | S3Store> {
  if (settings.storageUrl === '')
    return await openFileStore({
      root: path.join(settings.dataDir, 'objects'),
      publicUrl: settings.publicUrl,
      secret: settings.secret,
      clock: settings.clock,
      countsEgress: true,
    })
  const { openS3Store } = await import('./s3.ts') // A third of a second and 35 MB that only its users pay.
  return openS3Store({ url: settings.storageUrl, endpoint: settings.s3Endpoint, region: settings.s3Region, clock: settings.clock })
}
