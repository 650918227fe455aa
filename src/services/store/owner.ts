/**
 * The installation that an object store belongs to: its ID is an object in it. Only the owner removes what its database does not refer
 * to; in the eyes of a restored copy, everything that the original has stored since would be such.
 */
import { text } from 'node:stream/consumers'
import { StorageError, type ObjectRef, type Storage } from '#ports/storage.ts'

const OWNER: ObjectRef = { bucket: 'installation', key: 'id' }

/** Null while nobody has claimed the store. */
export async function ownerOf(storage: Storage): Promise<string | null> {
  try {
    return (await text(await storage.read(OWNER))).trim()
  } catch (error) {
    if (error instanceof StorageError && error.code === 'not-found') return null
    throw error
  }
}

export async function claimStore(storage: Storage, installation: string): Promise<void> {
  await storage.createBucket(OWNER.bucket)
  await storage.put(OWNER, Buffer.from(`${installation}\n`), { contentType: 'text/plain' })
}

/** Whether the store is this installation's. The first one that asks becomes the owner. */
export async function isOwnStore(storage: Storage, installation: string): Promise<boolean> {
  const owner = await ownerOf(storage)
  if (owner !== null) return owner === installation
  await claimStore(storage, installation)
  return (await ownerOf(storage)) === installation // Another installation may have been faster or slower.
}
