/** Sources that cannot be reached, in words. */
import type { CatalogSource } from '../../api/contract.ts'
import { timeSince } from '../../ui/format.ts'

type Status = Pick<CatalogSource, 'title' | 'status' | 'status_since' | 'status_error'>

export const isUnreachable = ({ status }: Status): boolean => status === 'unreachable'

/** 'cannot be reached since 12:04 UTC', with the day unless it is today. */
export const unreachableText = ({ status_since }: Status, now: Date): string =>
  status_since ? `cannot be reached since ${timeSince(status_since, now)}` : 'cannot be reached'

const MAX_NAMED = 3

/** One line above the results; null if all sources respond. */
export function outageText(sources: readonly Status[], now: Date): string | null {
  const lost = sources.filter(isUnreachable)
  const [first, ...others] = lost
  if (!first) return null
  const rest = lost.length === sources.length ? 'no other source was selected' : 'other sources were searched'
  if (others.length === 0) return `${first.title} ${unreachableText(first, now)}; ${rest}`
  const named = lost.slice(0, MAX_NAMED).map(({ title }) => title)
  const more = lost.length > MAX_NAMED ? ` and ${lost.length - MAX_NAMED} more` : ''
  return `${named.join(', ')}${more} cannot be reached; ${rest}`
}
