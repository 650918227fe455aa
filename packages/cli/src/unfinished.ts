/** Uploads that this person began and that have not ended: the same command goes on with them. They hold no address and no key. */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { UploadState } from '../../client/src/core.ts'
import { configFile } from './config.ts'

interface Kept extends UploadState {
  begun: number
}

const OWNER_ONLY = 0o600
/** The service ends a session that nobody continues for a day. */
const KEPT_MS = 7 * 24 * 3_600_000
const file = () => path.join(path.dirname(configFile()), 'uploads.json')

function read(): Record<string, Kept> {
  try {
    const all = JSON.parse(readFileSync(file(), 'utf8')) as Record<string, Kept>
    return Object.fromEntries(Object.entries(all).filter(([, { begun }]) => Date.now() - begun < KEPT_MS))
  } catch {
    return {} // Without it an upload begins anew.
  }
}

function write(all: Record<string, Kept>): void {
  mkdirSync(path.dirname(file()), { recursive: true, mode: 0o700 })
  const part = `${file()}.${process.pid}.tmp`
  writeFileSync(part, `${JSON.stringify(all, null, 2)}\n`, { mode: OWNER_ONLY })
  renameSync(part, file())
}

/** The same files, unchanged, to the same place. */
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
  const kept = read()[key]
  return kept ? { uploadId: kept.uploadId, done: kept.done } : null
}

export function keep(key: string, state: UploadState | null): void {
  const { [key]: former, ...others } = read()
  if (state === null && former === undefined) return
  write(state === null ? others : { ...others, [key]: { ...state, begun: former?.begun ?? Date.now() } })
}
