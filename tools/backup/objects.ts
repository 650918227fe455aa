/** Objects on their way between a store and the folder of a backup. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream/promises'
import type { FileStore } from '#adapters/storage/files.ts'
import { StorageError, type ObjectInfo, type ObjectRef, type Storage } from '#ports/storage.ts'
import { each } from './each.ts'
import { BackupError, objectList, type ObjectEntry, type ObjectTotals } from './layout.ts'

/** Objects in flight: enough to keep a network or a disk busy, and of each only a few chunks are in memory. */
const AT_ONCE = 4

type OnObject = (bytes: number) => void

/** All objects of these buckets, in order, a page at a time. */
export async function* objectsOf(store: Storage, buckets: readonly string[], prefix = ''): AsyncIterable<ObjectRef> {
  for (const bucket of buckets) {
    let cursor: string | null = null
    do {
      const page = await store.list(bucket, { cursor, prefix })
      for (const { key } of page.objects) yield { bucket, key }
      cursor = page.next
    } while (cursor !== null)
  }
}

/** Copies what the backup does not have yet; returns the names of objects whose bytes are not those that were once written. */
export async function collect(store: Storage, backup: FileStore, objects: AsyncIterable<ObjectRef>, onObject: OnObject): Promise<string[]> {
  const damaged: string[] = []
  const buckets = new Set<string>()
  await each(objects, AT_ONCE, async (at) => {
    if (!buckets.has(at.bucket)) {
      await backup.createBucket(at.bucket)
      buckets.add(at.bucket)
    }
    try {
      const info = await store.stat(at)
      if (!info || isSame(await backup.stat(at), info)) return
      const { sha256, size } = await backup.put(at, await store.read(at), { contentType: info.contentType })
      if (info.sha256 !== null && info.sha256 !== sha256) damaged.push(`${at.bucket}/${at.key}`)
      onObject(size)
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      if (error.code === 'not-found' || error.code === 'changed') return // It was removed meanwhile; whether it is missed is checked later.
      if (error.code !== 'damaged') throw error
      damaged.push(`${at.bucket}/${at.key}`)
    }
  })
  return damaged
}

/** A key is written once; S3 does not tell the SHA-256, but when it was. */
function isSame(copy: ObjectInfo | null, { sha256, size, lastModified }: ObjectInfo): boolean {
  if (!copy) return false
  return sha256 === null ? copy.size === size && copy.lastModified >= lastModified : copy.sha256 === sha256
}

/** Writes `objects.ndjson` from what the folder contains. */
export async function listObjects(folder: string, backup: FileStore, buckets: readonly string[]): Promise<ObjectTotals> {
  const hash = createHash('sha256')
  let [count, bytes] = [0, 0]
  const lines = async function* () {
    for await (const at of objectsOf(backup, buckets)) {
      const info = (await backup.stat(at))!
      const entry: ObjectEntry = { ...at, size: info.size, content_type: info.contentType, sha256: info.sha256! }
      const line = `${JSON.stringify(entry)}\n`
      hash.update(line)
      count++
      bytes += info.size
      yield line
    }
  }
  const handle = await open(objectList(folder), 'w', 0o600)
  await pipeline(lines, handle.createWriteStream({ flush: true }))
  return { count, bytes, sha256: hash.digest('hex') }
}

async function* readObjectList(folder: string): AsyncIterable<ObjectEntry> {
  for await (const line of createInterface({ input: createReadStream(objectList(folder)), crlfDelay: Infinity }))
    yield JSON.parse(line) as ObjectEntry
}

/** Puts the objects of a backup into a store; those that are there already, from an interrupted restore, are kept. */
export async function putBack(
  { folder, backup, buckets }: { folder: string; backup: FileStore; buckets: readonly string[] },
  store: Storage,
  onObject: OnObject,
): Promise<void> {
  await each(readObjectList(folder), AT_ONCE, async ({ bucket, key, size, sha256, content_type }) => {
    const at = { bucket, key }
    if (!buckets.includes(bucket)) throw new BackupError(`${bucket}/${key}: not in a bucket of the manifest`)
    const former = await store.stat(at)
    if (former?.sha256 !== sha256) {
      const put = await store.put(at, await backup.read(at), { contentType: content_type })
      if (put.sha256 !== sha256) {
        await store.remove(at)
        throw new BackupError(`${bucket}/${key}: its bytes in the backup are not those that were backed up`)
      }
    }
    onObject(size)
  })
}

/** Reads every object again, and returns what differs from the manifest. */
export async function checkObjects(folder: string, backup: FileStore, totals: ObjectTotals, onObject: OnObject): Promise<string[]> {
  const differences: string[] = []
  const list = createHash('sha256')
  await pipeline(createReadStream(objectList(folder)), list).catch((error: Error) => differences.push(`objects.ndjson: ${error.message}`))
  if (differences.length > 0) return differences
  if (list.digest('hex') !== totals.sha256) return ['objects.ndjson: not the list that was written']
  await each(readObjectList(folder), AT_ONCE, async ({ bucket, key, size, sha256 }) => {
    try {
      const hash = createHash('sha256')
      await pipeline(await backup.read({ bucket, key }), hash)
      if (hash.digest('hex') !== sha256) differences.push(`${bucket}/${key}: other bytes`)
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      differences.push(`${bucket}/${key}: ${error.message}`)
    }
    onObject(size)
  })
  return differences
}
