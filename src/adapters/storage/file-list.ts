import { lstat, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { DATA_NAME, isMissing, placeOf, POINTER_ENDING, readPointer } from './file-layout.ts'

/** Keys of a bucket after `after`, in byte order like S3: a folder sorts as its name with the slash. */
export async function* keysOf(bucketFolder: string, prefix: string, after: string): AsyncIterable<string> {
  yield* walk(bucketFolder, '', prefix, after)
}

async function* walk(folder: string, at: string, prefix: string, after: string): AsyncIterable<string> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  const names = entries.flatMap((entry) =>
    entry.isDirectory()
      ? [`${entry.name}/`]
      : entry.isFile() && entry.name.endsWith(POINTER_ENDING)
        ? [entry.name.slice(0, -POINTER_ENDING.length)]
        : [],
  )
  for (const name of names.sort()) {
    // Keys are ASCII, so UTF-16 order is byte order.
    const key = at + name
    if (name.endsWith('/')) {
      const mayMatch = key.startsWith(prefix) || prefix.startsWith(key)
      const isBehind = key < after && !after.startsWith(key)
      if (mayMatch && !isBehind) yield* walk(path.join(folder, name), key, prefix, after)
    } else if (key.startsWith(prefix) && key > after) yield key
  }
}

/**
 * Removes what a killed process left: files in the staging folder, and bytes without a pointer or with another one.
 * The age is that of the inode's last change, which renames and links refresh too, so that running work is safe.
 */
export async function sweepFiles(root: string, stagingFolder: string, olderThan: Date): Promise<number> {
  let removed = 0
  for (const name of await readdir(stagingFolder)) removed += await removeIfOld(path.join(stagingFolder, name), olderThan)
  for (const bucket of await readdir(root, { withFileTypes: true })) {
    if (!bucket.isDirectory() || bucket.name.startsWith('.')) continue
    for await (const { file, isOrphan } of dataFiles(root, bucket.name, '')) {
      if (await isOrphan()) removed += await removeIfOld(file, olderThan)
    }
  }
  return removed
}

async function* dataFiles(root: string, bucket: string, at: string): AsyncIterable<{ file: string; isOrphan(): Promise<boolean> }> {
  const folder = path.join(root, bucket, at)
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  for (const entry of entries) {
    if (entry.isDirectory()) yield* dataFiles(root, bucket, path.join(at, entry.name))
    const [, name, version] = DATA_NAME.exec(entry.name) ?? []
    if (!entry.isFile() || !name) continue
    const place = placeOf(root, { bucket, key: path.posix.join(at, name) })
    yield { file: path.join(folder, entry.name), isOrphan: async () => (await readPointer(place))?.data !== version }
  }
}

async function removeIfOld(file: string, olderThan: Date): Promise<0 | 1> {
  const stats = await lstat(file).catch((error: unknown) => {
    if (isMissing(error)) return null
    throw error
  })
  if (!stats || stats.ctimeMs >= olderThan.getTime()) return 0
  await rm(file, { recursive: true, force: true }) // A bucket that was being deleted is a folder.
  return 1
}
