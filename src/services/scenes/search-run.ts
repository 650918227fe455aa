/** What a background run of a saved search works with, and what it returns. */
import type { Services } from '#context.ts'
import type { Change } from '#effects.ts'
import type { Context } from '#operation.ts'

export interface RunContext extends Services {
  readonly db: Context['db']
  readonly invocationId: string
  readonly signal: AbortSignal
  change<T>(organizationId: string, work: (change: Change) => Promise<T>): Promise<T>
}

export interface Outcome {
  /** Scenes that could not be added in this run. */
  readonly left: number
  /** Whether the daily limit was reached. */
  readonly isLimited: boolean
  /** What could not be read, with the reason; null if nothing. Such scenes are tried again while they are recent. */
  readonly unreadable: string | null
}
