/** How far a queued file is, in words and as a share. */
import type { QueuedFile } from '../../../../client/src/upload-queue.ts'
import { bytes, percent } from '../../ui/format.ts'

const OPEN_STATES: readonly QueuedFile['state'][] = ['queued', 'uploading', 'paused', 'finishing']

export interface FileProgress {
  /** The state that is shown: `converting` is part of finishing. */
  state: 'queued' | 'uploading' | 'paused' | 'finishing' | 'converting' | 'ready' | 'failed'
  text: string
  /** 0 to 1; null once the file is ready or has failed. */
  share: number | null
}

export function progressOf({ state, size, sentBytes, session }: QueuedFile): FileProgress {
  const [file] = session?.files ?? []
  const isConverting = state === 'finishing' && file?.state === 'converting'
  const share = isConverting ? (file.fraction ?? 0) : size > 0 ? sentBytes / size : 0
  return {
    state: state === 'done' ? 'ready' : isConverting ? 'converting' : state,
    text: isConverting
      ? `Converting to COG, ${percent(Math.round(share * 100))}`
      : state === 'uploading'
        ? `${bytes(sentBytes)} of ${bytes(size)}`
        : state === 'finishing'
          ? 'Checking the file'
          : bytes(size),
    share: OPEN_STATES.includes(state) ? share : null,
  }
}

/** Without the name of the file, which stands beside it. */
export function errorOf({ name, error }: Pick<QueuedFile, 'name' | 'error'>): string {
  const text = error?.startsWith(`${name}: `) ? error.slice(name.length + 2) : (error ?? '')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
