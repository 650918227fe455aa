/** What a process finds out about the data while it searches. Either answer finds the same items; only the way there differs. */
import { LRUCache } from 'lru-cache'

const MAX_LARGE_SETS = 1_000
const MAX_PROPERTIES = 10_000

export interface SearchMemory {
  /** Sets that were large when last counted, and how often that is still believed. */
  readonly largeSets: LRUCache<string, number>
  /** Properties that some item of an organization was seen to have; a name that is known once is known. */
  readonly properties: LRUCache<string, true>
}

export const createSearchMemory = (): SearchMemory => ({
  largeSets: new LRUCache({ max: MAX_LARGE_SETS }),
  properties: new LRUCache({ max: MAX_PROPERTIES }),
})
