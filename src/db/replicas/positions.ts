import type { Lsn } from './lsn.ts'

/** More than the longest lag that is told from a longer one, at one position per interval. */
const MAX_POSITIONS = 200

/**
 * Where the primary was in the last while, by the clock of this process: a replica lags as long ago as the primary passed what the
 * replica has not replayed yet. An idle primary stays where it is, so nobody lags behind it, and no other clock matters.
 */
export class Positions {
  readonly #intervalMs: number
  readonly #passed: { atMs: number; lsn: Lsn }[] = []

  /** `limitMs` is the longest lag of interest. */
  constructor(limitMs: number) {
    this.#intervalMs = (2 * limitMs) / MAX_POSITIONS
  }

  add(atMs: number, lsn: Lsn): void {
    const last = this.#passed.at(-1)
    if (last && (lsn <= last.lsn || atMs - last.atMs < this.#intervalMs)) return
    this.#passed.push({ atMs, lsn })
    if (this.#passed.length > MAX_POSITIONS) this.#passed.shift()
  }

  /** After a failover, positions of the old primary mean nothing. */
  clear(): void {
    this.#passed.length = 0
  }

  lagMs(replayed: Lsn, nowMs: number): number {
    const missed = this.#passed.find(({ lsn }) => lsn > replayed)
    return missed ? nowMs - missed.atMs : 0
  }
}
