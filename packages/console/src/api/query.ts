import {
  keepPreviousData,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type InfiniteData,
  type UseQueryResult,
} from '@tanstack/react-query'
import type { CallOptions } from '../../../client/src/core.ts'
import { call, route } from './client.ts'
import type { Input, OperationId, Output } from './contract.ts'
import { isPassing } from './problem.ts'
import { previewInvitation, ssoOffer } from './session.ts'

const STALE_MS = 15_000
const MAX_TRIES = 2

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      retry: (count, error) => count < MAX_TRIES && isPassing(error),
      refetchOnWindowFocus: true,
    },
  },
})

interface ReadOptions<O> {
  enabled?: boolean
  refetchInterval?: number | false
  /** Reads again at the interval only while this holds of what was read last. */
  while?: (data: O) => boolean
  keep?: boolean
  staleTime?: number
  /** What is kept of the response. */
  select?: (data: O) => O
}

/** A read operation as a query: its id and input are the key. */
export function useOp<K extends OperationId>(id: K, input: Input<K>, options: ReadOptions<Output<K>> = {}): UseQueryResult<Output<K>> {
  const { keep, while: isLive, refetchInterval = false, ...rest } = options
  return useQuery<Output<K>>({
    queryKey: [id, input],
    queryFn: ({ signal }) => call(id, input, { signal }),
    ...(keep ? { placeholderData: keepPreviousData } : {}),
    refetchInterval: isLive ? ({ state }) => (state.data === undefined || isLive(state.data) ? refetchInterval : false) : refetchInterval,
    ...rest,
  })
}

/** A list as far as it was read. */
interface Pages<O, R> {
  first: O
  rows: R[]
}

/** What is shown of a query: a read operation, or a list by pages. */
export type Reading<T> = Pick<UseQueryResult<T>, 'data' | 'isError' | 'error' | 'isFetching' | 'refetch'>

interface PageOptions<O, R> {
  size: number
  /** What names a row. */
  key: keyof R
  rows(page: O): readonly R[]
  refetchInterval?: number
}

/** A list that grows by a page when somebody asks for more; null for `more` at its end. */
export function usePages<K extends OperationId, R>(
  id: K,
  input: Input<K>,
  { size, key, rows, refetchInterval }: PageOptions<Output<K>, R>,
): { query: Reading<Pages<Output<K>, R>>; more: (() => void) | null; isGrowing: boolean } {
  const query = useInfiniteQuery({
    queryKey: [id, input, 'pages'],
    queryFn: ({ pageParam, signal }) => call(id, { ...input, limit: size, offset: pageParam } as Input<K>, { signal }),
    initialPageParam: 0,
    getNextPageParam: (last: Output<K>, all: Output<K>[]) => (rows(last).length < size ? undefined : all.length * size),
    // What came in meanwhile moves the others on: the last of one page may be the first of the next as well.
    select: ({ pages }: InfiniteData<Output<K>, number>): Pages<Output<K>, R> => ({
      first: pages[0]!,
      rows: [...new Map(pages.flatMap((page) => rows(page).map((row) => [row[key], row] as const))).values()],
    }),
    placeholderData: keepPreviousData,
    ...(refetchInterval ? { refetchInterval } : {}),
  })
  return {
    query: query as Reading<Pages<Output<K>, R>>,
    more: query.hasNextPage ? () => void query.fetchNextPage() : null,
    isGrowing: query.isFetchingNextPage,
  }
}

const MAX_PAGES = 50

/** All of a list, for a file; as much of it as fifty pages hold. */
export async function readAll<K extends OperationId, R>(
  id: K,
  input: Input<K>,
  { size, rows }: { size: number; rows(page: Output<K>): readonly R[] },
): Promise<R[]> {
  const all: R[] = []
  for (let page = 0; page < MAX_PAGES; page++) {
    const next = rows(await call(id, { ...input, limit: size, offset: page * size } as Input<K>))
    all.push(...next)
    if (next.length < size) break
  }
  return all
}

interface Me {
  user: { id: string; email: string; name: string }
  can_clip_areas: boolean
  language: string | null
  units: 'metric' | 'imperial' | null
  pending_email: string | null
  has_two_factors: boolean
  organizations: {
    id: string
    name: string
    role: 'owner' | 'admin' | 'member'
    requires_two_factors: boolean
    per_order_limit_credits: number | null
    spend_limit_credits: number | null
    spent_30d_credits: number
  }[]
}

export function useMe(enabled = true): UseQueryResult<Me> {
  return useQuery<Me>({
    queryKey: ['/auth/me'],
    queryFn: ({ signal }) => route<Me>('GET', '/auth/me', undefined, { signal }),
    enabled,
  })
}

/** A changing operation; afterwards what the named prefixes read is read again. */
export function useAct<K extends OperationId>(id: K, touches: readonly string[] = [], options: Pick<CallOptions, 'idempotencyKey'> = {}) {
  const client = useQueryClient()
  return useMutation<Output<K>, Error, Input<K>>({
    mutationFn: (input) => call(id, input, options),
    onSuccess: () => touch(client, touches),
  })
}

export function touch(client: QueryClient, prefixes: readonly string[]): Promise<void> {
  return client.invalidateQueries({ predicate: ({ queryKey }) => prefixes.some((prefix) => String(queryKey[0]).startsWith(prefix)) })
}

export const useInvitation = (token: string) => useQuery({ queryKey: ['invitation', token], queryFn: () => previewInvitation(token) })

/** What the installation offers besides passwords. */
export const useSsoOffer = () => useQuery({ queryKey: ['sso'], queryFn: ssoOffer, staleTime: Infinity })
