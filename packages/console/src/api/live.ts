/** What happens in the organization, as it happens: one stream for a tab that somebody looks at, and what is shown follows it. */
import { useEffect } from 'react'
import { events } from '../../../client/src/core.ts'
import type { PlatformEvent } from '../../../client/src/generated/events.ts'
import { createStore } from '../store.ts'
import { queries, touch } from './query.ts'
import { recordedCalls } from './recorder.ts'
import { client } from './session.ts'

type State = 'off' | 'opening' | 'live'

/** However much happens, what is shown is read again this often at most. */
const GATHER_MS = 700
const AGAIN_MS = 15_000
const STREAM = '/v1/events'

/** What events of a kind make old. */
const TOUCHES: Readonly<Record<string, readonly string[]>> = {
  alert: ['alerts', 'notifications'],
  item: ['items.list', 'items.search', 'projects.list'],
  collection: ['collections'],
  project: ['projects.list'],
  upload: ['uploads', 'items.list'],
  order: ['orders', 'notifications', 'billing.credits'],
  feasibility: ['orders', 'notifications'],
  quotation: ['orders', 'notifications'],
  job: ['processing', 'billing.credits'],
  topup: ['billing', 'notifications'],
  credits: ['billing', 'notifications'],
  payment_method: ['payment_methods'],
}

const state = createStore<State>('off')
const listeners = new Set<(event: PlatformEvent) => void>()

/** Whether news comes by itself at the moment. */
export const useLiveState = state.use

export function onEvent(listener: (event: PlatformEvent) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Keeps the stream open while the tab is looked at: a browser has few connections to one service, and hidden tabs need none. */
export function useLive(organizationId: string): void {
  useEffect(() => {
    if (!organizationId) return
    let stream: AbortController | null = null
    const follow = () => {
      if (document.hidden) {
        stream?.abort()
        stream = null
        state.set('off')
      } else if (!stream) {
        stream = new AbortController()
        void listen(stream.signal)
      }
    }
    follow()
    document.addEventListener('visibilitychange', follow)
    return () => {
      document.removeEventListener('visibilitychange', follow)
      stream?.abort()
      state.set('off')
    }
  }, [organizationId])
}

async function listen(signal: AbortSignal): Promise<void> {
  const isOpen = () => {
    const latest = recordedCalls.get().find(({ path }) => path === STREAM)
    if (latest?.status !== 200 || state.get() === 'live' || signal.aborted) return
    state.set('live')
    gather(['alerts', 'notifications']) // What happened before it opened.
  }
  const forget = recordedCalls.subscribe(isOpen)
  signal.addEventListener('abort', forget)
  while (!signal.aborted) {
    state.set('opening')
    try {
      for await (const event of events(client, { signal })) hear(event)
    } catch {
      // Not allowed, or not to be had: screens ask by themselves now and then, and later it is tried again.
    }
    if (signal.aborted) return
    state.set('off')
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  }
}

function hear(event: PlatformEvent): void {
  gather(TOUCHES[event.event_type.split('.')[0]!] ?? [])
  for (const listener of listeners) listener(event)
}

const old = new Set<string>()
let timer: ReturnType<typeof setTimeout> | null = null

function gather(prefixes: readonly string[]): void {
  for (const prefix of prefixes) old.add(prefix)
  timer ??= setTimeout(() => {
    const all = [...old]
    old.clear()
    timer = null
    void touch(queries, all)
  }, GATHER_MS)
}
