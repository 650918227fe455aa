import { keepPreviousData, QueryClient, useMutation, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query'
import { call, route } from './client.ts'
import type { Input, OperationId, Output } from './contract.ts'
import { isPassing } from './problem.ts'

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

interface Me {
  user: { id: string; email: string; name: string }
  organizations: {
    id: string
    name: string
    role: 'owner' | 'admin' | 'member'
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
export function useAct<K extends OperationId>(id: K, touches: readonly string[] = []) {
  const client = useQueryClient()
  return useMutation<Output<K>, Error, Input<K> & { idempotencyKey?: string }>({
    mutationFn: ({ idempotencyKey, ...input }) => call(id, input as unknown as Input<K>, { idempotencyKey }),
    onSuccess: () => touch(client, touches),
  })
}

export function touch(client: QueryClient, prefixes: readonly string[]): Promise<void> {
  return client.invalidateQueries({ predicate: ({ queryKey }) => prefixes.some((prefix) => String(queryKey[0]).startsWith(prefix)) })
}
