/** A queue for a scarce resource: first in, first out within a tenant, and the tenants in rotation. */
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

  /** The next entry of a tenant that can be served now. A tenant that was served goes to the back. */
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

  /** The tenant with the most waiting entries. */
  longest(): string | null {
    let longest: string | null = null
    for (const [tenant, line] of this.#lines) if (longest === null || line.length > this.waitingOf(longest)) longest = tenant
    return longest
  }

  takeNewest(tenant: string): T | undefined {
    const newest = this.#lines.get(tenant)?.at(-1)
    if (newest !== undefined) this.remove(tenant, newest)
    return newest
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
