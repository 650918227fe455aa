/** Lists come in pages, by four conventions. All of them are read the same way here. */

/** `[where the records stand, convention, field that bounds a page, its default]`; null: the answer is the list itself. */
export type Paging = readonly [records: string | null, kind: 'offset' | 'page' | 'token', size: 'limit' | 'size', standard: number]

/** A list that never ends is a mistake of somebody's. */
const MAX_PAGES = 100_000

/**
 * `await` gives the page that was asked for; `for await` goes on from there to the last record. Nothing is sent before one of
 * the two begins.
 */
export class Page<O, E> implements PromiseLike<O>, AsyncIterable<E> {
  readonly #ask: (fields: object) => Promise<O>
  readonly #input: Readonly<Record<string, unknown>>
  readonly #paging: Paging
  #first: Promise<O> | null = null

  constructor(ask: (fields: object) => Promise<O>, input: Readonly<Record<string, unknown>>, paging: Paging) {
    this.#ask = ask
    this.#input = input
    this.#paging = paging
  }

  // A list is meant to be awaited, as a promise of its first page.
  // oxlint-disable-next-line unicorn/no-thenable
  then<A = O, B = never>(
    done?: ((page: O) => A | PromiseLike<A>) | null,
    failed?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#start().then(done, failed)
  }

  catch<B = never>(failed?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<O | B> {
    return this.#start().catch(failed)
  }

  finally(last?: (() => void) | null): Promise<O> {
    return this.#start().finally(last)
  }

  #start(): Promise<O> {
    this.#first ??= this.#ask({})
    return this.#first
  }

  /** Page after page, as the service answered. */
  async *pages(): AsyncGenerator<O, void, void> {
    let page = await this.#start()
    for (let count = 1; count < MAX_PAGES; count++) {
      yield page
      const next = this.#next(page, count)
      if (next === null) return
      page = await this.#ask(next)
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<E, void, void> {
    for await (const page of this.pages()) yield* this.#records(page)
  }

  /** Every record in an array; for lists that you know to be short. */
  async all(): Promise<E[]> {
    const records: E[] = []
    for await (const record of this) records.push(record)
    return records
  }

  #records(page: O): E[] {
    const [field] = this.#paging
    return ((field === null ? page : (page as Record<string, unknown>)[field]) ?? []) as E[]
  }

  /** What to ask for after `count` pages; null after the last. */
  #next(page: O, count: number): object | null {
    const [, kind, size, standard] = this.#paging
    if (kind === 'token') {
      const cursor = cursorOf(page as Linked)
      return cursor === null ? null : { next: cursor }
    }
    const window = Number(this.#input[size] ?? standard)
    if (this.#records(page).length < window) return null
    return kind === 'offset'
      ? { offset: Number(this.#input['offset'] ?? 0) + count * window }
      : { page: Number(this.#input['page'] ?? 0) + count }
  }
}

interface Linked {
  next?: string | null
  links?: readonly { rel?: string; href?: string; body?: { next?: string } }[]
}

function cursorOf({ next, links }: Linked): string | null {
  if (next != null) return next
  const link = links?.find(({ rel }) => rel === 'next')
  return link?.body?.next ?? (link?.href ? new URL(link.href, 'http://local').searchParams.get('next') : null)
}
