/** A queue for a scarce resource: first in, first out within a tenant, and the tenants in rotation. */
export class FairQueue<T> {
  readonly #entries = new Map<string, T[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  waitingOf(tenant: string): number {
    return this.#entries.get(tenant)?.length ?? 0
  }

  /** How many entries can be served now, if so many of each tenant can. */
  servable(mayServe: (tenant: string) => number): number {
    let count = 0
    for (const [tenant, entries] of this.#entries) count += Math.min(entries.length, mayServe(tenant))
    return count
  }

  push(tenant: string, entry: T): void {
    const entries = this.#entries.get(tenant)
    if (entries) entries.push(entry)
    else this.#entries.set(tenant, [entry])
    this.#size++
  }

  /** The next entry of a tenant that can be served now. A tenant that was served goes to the back. */
  take(mayServe: (tenant: string) => boolean): { tenant: string; entry: T } | null {
    for (const [tenant, entries] of this.#entries) {
      if (!mayServe(tenant)) continue
      const entry = entries.shift()!
      this.#entries.delete(tenant)
      if (entries.length > 0) this.#entries.set(tenant, entries)
      this.#size--
      return { tenant, entry }
    }
    return null
  }

  /** The tenant with the most waiting entries. */
  longest(): string | null {
    let longest: string | null = null
    for (const [tenant, entries] of this.#entries) if (longest === null || entries.length > this.waitingOf(longest)) longest = tenant
    return longest
  }

  takeNewest(tenant: string): T | undefined {
    const newest = this.#entries.get(tenant)?.at(-1)
    if (newest !== undefined) this.remove(tenant, newest)
    return newest
  }

  remove(tenant: string, entry: T): boolean {
    const entries = this.#entries.get(tenant)
    const index = entries?.indexOf(entry) ?? -1
    if (index < 0) return false
    entries!.splice(index, 1)
    if (entries!.length === 0) this.#entries.delete(tenant)
    this.#size--
    return true
  }

  clear(): T[] {
    const all = [...this.#entries.values()].flat()
    this.#entries.clear()
    this.#size = 0
    return all
  }
}

/** Counts something per tenant. */
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
