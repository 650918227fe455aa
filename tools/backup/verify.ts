import { FORMAT, openObjects, ORG_FORMAT, readManifest } from './layout.ts'
import { checkObjects } from './objects.ts'
import type { Progress } from './progress.ts'
import { checkTable } from './tables.ts'

export interface Verdict {
  /** What differs from the manifest; empty if the backup is complete. */
  readonly differences: readonly string[]
  readonly rows: number
  readonly objects: number
}

/** Reads every row and every file of a backup again, and compares them with the SHA-256 in its manifest. */
export async function verifyBackup(folder: string, progress: Progress): Promise<Verdict> {
  const manifest = await readManifest(folder, [FORMAT, ORG_FORMAT])
  const differences: string[] = []
  progress.step('Rows')
  for (const entry of manifest.tables) {
    const difference = await checkTable(folder, entry, (bytes) => progress.add(bytes, 0))
    if (difference) differences.push(difference)
    progress.add(0)
  }
  progress.step('Files')
  differences.push(...(await checkObjects(folder, await openObjects(folder), manifest.objects, (bytes) => progress.add(bytes))))
  progress.end()
  return { differences, rows: manifest.tables.reduce((sum, { rows }) => sum + rows, 0), objects: manifest.objects.count }
}
