/** Who waits for something scarce: each tenant in the order of its own, the tenants in turn. */
export class FairQueue<T> {
  readonly #lines = new Map<string, T[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  waitingOf(tenant: string): number {
    return this.#lines.get(tenant)?.length ?? 0
  }

  push(tenant: string, entry: T): void {
    const line = this.#lines.get(tenant)
    if (line) line.push(entry)
    else this.#lines.set(tenant, [entry])
    this.#size++
  }

  /** The next one of a tenant that may be served now. A tenant that was served goes to the end of the turn. */
  take(mayServe: (tenant: string) => boolean): { tenant: string; entry: T } | null {
    for (const [tenant, line] of this.#lines) {
      if (!mayServe(tenant)) continue
      const entry = line.shift()!
      this.#lines.delete(tenant)
      if (line.length > 0) this.#lines.set(tenant, line)
      this.#size--
      return { tenant, entry }
    }
    return null
  }

  remove(tenant: string, entry: T): boolean {
    const line = this.#lines.get(tenant)
    const index = line?.indexOf(entry) ?? -1
    if (index < 0) return false
    line!.splice(index, 1)
    if (line!.length === 0) this.#lines.delete(tenant)
    this.#size--
    return true
  }

  clear(): T[] {
    const all = [...this.#lines.values()].flat()
    this.#lines.clear()
    this.#size = 0
    return all
  }
}

/** How many of something each tenant has. */
export class Tally {
  readonly #counts = new Map<string, number>()

  of(tenant: string): number {
    return this.#counts.get(tenant) ?? 0
  }

  add(tenant: string, change: 1 | -1): void {
    const next = this.of(tenant) + change
    if (next === 0) this.#counts.delete(tenant)
    else this.#counts.set(tenant, next)
  }
}
