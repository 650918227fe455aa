/** Paged lists. The API has four paging conventions; here they all work the same way. */

/** `[field with the records, convention, page size field, its default]`; a null field means that the response is the list itself. */
export type Paging = readonly [records: string | null, kind: 'offset' | 'page' | 'token', size: 'limit' | 'size', defaultSize: number]

/** Guards against a list that never ends. */
const MAX_PAGES = 100_000

/**
 * `await` returns the requested page; `for await` continues from there to the last record. Nothing is sent until one of the
 * two starts.
 */
export class Page<O, E> implements PromiseLike<O>, AsyncIterable<E> {
  readonly #fetch: (fields: object) => Promise<O>
  readonly #input: Readonly<Record<string, unknown>>
  readonly #paging: Paging
  #first: Promise<O> | null = null

  constructor(fetch: (fields: object) => Promise<O>, input: Readonly<Record<string, unknown>>, paging: Paging) {
    this.#fetch = fetch
    this.#input = input
    this.#paging = paging
  }

  // A list can be awaited, as a promise of its first page.
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
    this.#first ??= this.#fetch({})
    return this.#first
  }

  /** The pages as the service returns them. */
  async *pages(): AsyncGenerator<O, void, void> {
    let page = await this.#start()
    for (let count = 1; count < MAX_PAGES; count++) {
      yield page
      const next = this.#next(page, count)
      if (next === null) return
      page = await this.#fetch(next)
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<E, void, void> {
    for await (const page of this.pages()) yield* this.#records(page)
  }

  /** All records in an array; for short lists. */
  async all(): Promise<E[]> {
    const records: E[] = []
    for await (const record of this) records.push(record)
    return records
  }

  #records(page: O): E[] {
    const [field] = this.#paging
    return ((field === null ? page : (page as Record<string, unknown>)[field]) ?? []) as E[]
  }

  /** The fields that request the page after `count` pages; null after the last. */
  #next(page: O, count: number): object | null {
    const [, kind, sizeField, defaultSize] = this.#paging
    if (kind === 'token') {
      const cursor = cursorOf(page as Linked)
      return cursor === null ? null : { next: cursor }
    }
    const size = Number(this.#input[sizeField] ?? defaultSize)
    if (this.#records(page).length < size) return null
    return kind === 'offset'
      ? { offset: Number(this.#input['offset'] ?? 0) + count * size }
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
