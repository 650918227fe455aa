/** Unfinished uploads: running the same command again resumes them. The file holds no URLs and no keys. */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { UploadState } from '../../client/src/core.ts'
import { configFile } from './config.ts'

interface SavedUpload extends UploadState {
  startedAt: number
}

const OWNER_ONLY = 0o600
/** Longer than the service keeps an idle session. */
const MAX_AGE_MS = 7 * 24 * 3_600_000
const file = () => path.join(path.dirname(configFile()), 'uploads.json')

function read(): Record<string, SavedUpload> {
  try {
    const all = JSON.parse(readFileSync(file(), 'utf8')) as Record<string, SavedUpload>
    return Object.fromEntries(Object.entries(all).filter(([, { startedAt }]) => Date.now() - startedAt < MAX_AGE_MS))
  } catch {
    return {} // Uploads then start over.
  }
}

function write(all: Record<string, SavedUpload>): void {
  mkdirSync(path.dirname(file()), { recursive: true, mode: 0o700 })
  const temporary = `${file()}.${process.pid}.tmp`
  writeFileSync(temporary, `${JSON.stringify(all, null, 2)}\n`, { mode: OWNER_ONLY })
  renameSync(temporary, file())
}

/** The same for unchanged files with the same target. */
export function keyOf(target: readonly unknown[], files: readonly string[]): string {
  const facts = files.map((name) => {
    const { size, mtimeMs } = statSync(name)
    return [path.resolve(name), size, mtimeMs]
  })
  return createHash('sha256')
    .update(JSON.stringify([target, facts]))
    .digest('hex')
}

export const find = (key: string): UploadState | null => {
  const saved = read()[key]
  return saved ? { uploadId: saved.uploadId, done: saved.done } : null
}

export function save(key: string, state: UploadState | null): void {
  const { [key]: former, ...others } = read()
  if (state === null && former === undefined) return
  write(state === null ? others : { ...others, [key]: { ...state, startedAt: former?.startedAt ?? Date.now() } })
}
