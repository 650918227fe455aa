/**
 * Live events: one reader of the outbox for all listeners of a process. It reads after every commit, here or in another process,
 * and sends each event to those who can read it. Listeners that reconnect start at the last event they received.
 */
import { CONNECTION_LIMITS } from '#core/connections.ts'
import type { Principal } from '#core/principal.ts'
import { invalidField, problem } from '#core/problem.ts'
import { bodyOf } from '#core/webhooks.ts'
import type { Db } from '#db/tables.ts'
import * as stream from '#model/events/stream.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { mayRead } from '#model/identity/project.ts'
import type { CommitNotifier } from './commit-notifier.ts'
import { startLoop, type Loop } from './loop.ts'

interface Listener {
  /** The current one: roles can change while a stream is open. */
  principal(): Principal
  /** False: its buffer is full, and it will reconnect for the rest. */
  send(frame: string): boolean
  end(): void
}

interface JoinOptions {
  readonly lastEventId: string | null
  /** IP address of the caller, for the limit per address; null if unknown. */
  readonly address: string | null
}

export interface EventStream {
  /** Sends what followed the given event, then every new event. The returned function leaves the stream. */
  join(listener: Listener, options: JoinOptions): Promise<() => void>
  close(): Promise<void>
}

/** In one process: together below the connections that it accepts, so that streams leave capacity for calls. */
export const STREAM_LIMITS = { inAll: 1_500, perOrganization: 250, perUser: 100, perAddress: (CONNECTION_LIMITS.maxPerAddress * 3) / 4 }
const PAGE = 500
/** For commits whose notification was lost, and for events that wait for an older transaction to end. */
const REST_MS = 250
const GAP_MS = 5

/** A listener without a last event receives what is committed after it joined; null for one that has caught up. */
type Since = stream.Moment | null

interface Group {
  /** Everything up to here has been sent. */
  head: stream.Position
  listeners: Map<Listener, Since>
  userCount: number
}

interface StreamOptions {
  db: Db
  commitNotifier: CommitNotifier
  onError: (error: unknown) => void
}

export function createEventStream({ db, commitNotifier, onError }: StreamOptions): EventStream {
  const groups = new Map<string, Group>()
  const counter = createStreamCounter()
  let isClosed = false
  let loop: Loop | null = null

  const start = (): Loop => {
    if (loop) return loop
    const stepping = startLoop({ step: () => readOn(db, groups), restMs: REST_MS, gapMs: GAP_MS, onError })
    const unsubscribe = commitNotifier.subscribe(stepping.wake)
    loop = {
      wake: stepping.wake,
      async close() {
        unsubscribe()
        await stepping.close()
      },
    }
    return loop
  }
  const groupOf = (organizationId: string, { head }: stream.Moment): Group => {
    const group = groups.get(organizationId) ?? { head, listeners: new Map<Listener, Since>(), userCount: 0 }
    groups.set(organizationId, group)
    return group
  }
  /** A group exists as long as it has listeners, or some that are joining. */
  const drop = (organizationId: string): void => {
    const group = groups.get(organizationId)!
    if (--group.userCount === 0) groups.delete(organizationId)
  }

  return {
    async join(listener, { lastEventId, address }) {
      const { organizationId, release } = counter.take(listener.principal(), address)
      try {
        const from = lastEventId === null ? null : await stream.positionOf(db, organizationId, lastEventId)
        if (lastEventId !== null && !from) throw invalidField('Last-Event-ID', 'must be the ID of an event of this organization')
        const moment = await stream.now(db)
        const group = groupOf(organizationId, moment)
        group.userCount++
        try {
          if (from) await catchUp(db, group, { organizationId, listener, from })
          if (isClosed) throw problem('unavailable', 'The service is stopping')
        } catch (error) {
          drop(organizationId)
          throw error
        }
        group.listeners.set(listener, from ? null : moment)
        start().wake()
        return () => {
          if (!group.listeners.delete(listener)) return
          drop(organizationId)
          release()
        }
      } catch (error) {
        release()
        throw error
      }
    },
    async close() {
      isClosed = true
      for (const { listeners } of groups.values()) for (const listener of listeners.keys()) listener.end()
      await loop?.close()
    },
  }
}

/** Counts open streams. A stream is counted before the first await, so that concurrent callers cannot exceed a limit together. */
function createStreamCounter() {
  const taken = new Map<string, number>()
  const countOf = (name: string) => taken.get(name) ?? 0
  const retry = { headers: { 'Retry-After': '5' } }
  return {
    take(principal: Principal, address: string | null): { organizationId: string; release(): void } {
      const organizationId = requireOrganization(principal)
      const { inAll, perOrganization, perUser, perAddress } = STREAM_LIMITS
      const user = `user ${principal.userId ?? principal.id}`
      if (countOf('all') >= inAll) throw problem('unavailable', 'Too many event streams are open; try again in a moment', retry)
      const limits: [name: string, limit: number, who: string][] = [
        [`organization ${organizationId}`, perOrganization, 'An organization'],
        [`${user} of ${organizationId}`, perUser, 'A user'],
        ...(address === null ? [] : [[`address ${address}`, perAddress, 'One address'] as [string, number, string]]),
      ]
      for (const [name, limit, who] of limits)
        if (countOf(name) >= limit)
          throw problem('rate-limited', `${who} can have at most ${limit} event streams open; close one or share it`, retry)
      const names = ['all', ...limits.map(([name]) => name)]
      for (const name of names) taken.set(name, countOf(name) + 1)
      return {
        organizationId,
        release() {
          for (const name of names) {
            const left = countOf(name) - 1
            if (left > 0) taken.set(name, left)
            else taken.delete(name)
          }
        },
      }
    },
  }
}

/** Sends new events to every group that has listeners; returns whether there may be more. */
async function readOn(db: Db, groups: ReadonlyMap<string, Group>): Promise<boolean> {
  const open = [...groups].filter(([, { listeners }]) => listeners.size > 0)
  if (open.length === 0) return false
  const events = await stream.after(
    db,
    open.map(([organizationId, { head }]) => ({ organizationId, position: head })),
    PAGE,
  )
  for (const event of events) {
    const group = groups.get(event.organizationId)
    if (!group || !stream.isBefore(group.head, event.position)) continue // The group has left meanwhile, or was recreated.
    group.head = event.position
    sendTo(event, group.listeners)
  }
  return events.length >= PAGE
}

interface Joining {
  organizationId: string
  listener: Listener
  from: stream.Position
}

/** Sends up to the group's head. No event can slip in between reaching it and joining the group. */
async function catchUp(db: Db, group: Group, { organizationId, listener, from }: Joining): Promise<void> {
  let position = from
  for (;;) {
    const { head } = group
    if (!stream.isBefore(position, head)) return
    const page = (await stream.after(db, [{ organizationId, position }], PAGE)).filter((event) => !stream.isBefore(head, event.position))
    for (const event of page) if (!sendTo(event, [[listener, null]])) return
    position = page.length < PAGE ? head : page.at(-1)!.position
  }
}

/** The text is built once for all listeners. False: the buffer of one of them is full. */
function sendTo(event: stream.StreamedEvent, listeners: Iterable<[Listener, Since]>): boolean {
  let frame: string | null = null
  let isTaken = true
  for (const [listener, since] of listeners) {
    if (since && stream.wasCommitted(event.position, since)) continue
    if (!isReader(listener.principal(), event)) continue
    frame ??= `id: ${event.id}\nevent: ${event.type}\ndata: ${bodyOf(event)}\n\n`
    isTaken = listener.send(frame) && isTaken
  }
  return isTaken
}

function isReader(principal: Principal, { organizationId, readers }: stream.StreamedEvent): boolean {
  if (readers === null) return true
  const memberRole = principal.userId !== null && readers.includes(principal.userId) ? 'viewer' : null
  return mayRead(principal, { organizationId, visibility: 'private', memberRole })
}
